import { LiteRtEngine } from './litert';
import { ModelFiles } from './model';

/** The fastest engine of this browser; `model` is the folder of the model, the engine's files lie beside it. */
export async function openEngine(model: string, accelerator: 'auto' | 'wasm'): Promise<LiteRtEngine> {
  if (!supportsSimd()) {
    throw new Error(
      'This browser is too old for the computation (it lacks WebAssembly SIMD). Any browser of 2023 or later will do.',
    );
  }
  return LiteRtEngine.open(await ModelFiles.open(model), new URL('../litert/', model).href, accelerator);
}

/** A function of `i32.const 0, i8x16.splat, i8x16.popcnt`. */
function supportsSimd(): boolean {
  return (
    typeof WebAssembly === 'object' &&
    WebAssembly.validate(
      // prettier-ignore
      Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0,
        65, 0, 253, 15, 253, 98, 11),
    )
  );
}
