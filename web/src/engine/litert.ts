/** The step on LiteRT.js: XNNPACK in WebAssembly with SIMD and threads, or WebGPU. */
import {
  loadAndCompile,
  loadLiteRt,
  supportsFeature,
  Tensor,
  type Accelerator,
  type CompiledModel,
} from '@litertjs/core';
import {
  nearness,
  SLOTS,
  written,
  type StepEngine,
  type StepInputs,
  type StepOutputs,
  type StepShape,
} from '../tracking/step';
import type { ModelFiles } from './model';

/** Compiled shapes that are kept: for the marks of one object, and for the objects that are followed. */
const MOST_COMPILED = 3;

const THREADED = 'litert_wasm_threaded_internal.js';
const SINGLE = 'litert_wasm_compat_internal.js';

export class LiteRtEngine implements StepEngine {
  readonly objects: readonly number[];
  private readonly compiled = new Map<string, CompiledModel>();
  private model!: CompiledModel;
  private nothing = new Float32Array(0);

  private constructor(
    private readonly files: ModelFiles,
    private readonly accelerator: Accelerator,
    readonly name: string,
    /** Addresses of what it was loaded from. */
    readonly loaded: string[],
  ) {
    this.objects = files.objects;
  }

  static async open(files: ModelFiles, wasm: string, wanted: 'auto' | 'wasm'): Promise<LiteRtEngine> {
    // LiteRT's threaded build is made with relaxed SIMD.
    const threads =
      self.crossOriginIsolated && (await supportsFeature('threads')) && (await supportsFeature('relaxedSimd'));
    // Emscripten looks beside the worker's own script unless it is told where its files are.
    const module = { locateFile: (file: string) => wasm + file, mainScriptUrlOrBlob: wasm + THREADED };
    Object.assign(self, { Module: module });
    const script = wasm + (threads ? THREADED : SINGLE);
    const runtime = await loadLiteRt(script);
    const gpu = wanted === 'auto' && runtime.getWebGpuDevice() !== null;
    const cores = threads ? `${runtime.liteRtWasm.getThreadCount()} threads` : 'one thread';
    const loaded = [script, script.replace(/js$/, 'wasm')];
    return new LiteRtEngine(files, gpu ? 'webgpu' : 'wasm', gpu ? 'WebGPU' : `WebAssembly, ${cores}`, loaded);
  }

  async load(shape: StepShape): Promise<void> {
    const key = `${shape.height}x${shape.width}x${shape.objects}`;
    this.model = this.compiled.get(key) ?? (await this.compile(shape));
    this.compiled.delete(key);
    this.compiled.set(key, this.model);
    this.nothing = new Float32Array(shape.objects * 2 * (shape.height / 4) * (shape.width / 4));
  }

  async step({ frame, memory, write, time, given }: StepInputs): Promise<StepOutputs> {
    const data: Record<string, Float32Array> = {
      frame,
      keys: memory.keys,
      values: memory.values,
      nearness: nearness(memory, time),
      write: Float32Array.from({ length: SLOTS }, (_, slot) => (write.includes(slot) ? 1 : 0)),
      given: given ?? this.nothing,
      use_given: Float32Array.of(given ? 1 : 0),
    };
    const inputs = this.model.getInputDetails().map(({ name, shape }) => new Tensor(data[name], shape));
    const outputs = await this.model.run(inputs);
    try {
      const [probabilities, keys, values, rating] = (await Promise.all(
        outputs.map((tensor) => tensor.data()),
      )) as Float32Array[];
      return { probabilities, memory: { keys, values, times: written(memory.times, write, time) }, rating };
    } finally {
      for (const tensor of [...inputs, ...outputs]) tensor.delete();
    }
  }

  private async compile(shape: StepShape): Promise<CompiledModel> {
    if (this.compiled.size >= MOST_COMPILED) {
      const [oldest, model] = this.compiled.entries().next().value!;
      this.compiled.delete(oldest);
      model.delete();
    }
    return loadAndCompile(await this.files.assemble(shape, shape.objects), { accelerator: this.accelerator });
  }
}
