/** Sliders for the edges of masks, under the names that the command line has for them. */
import { USUAL_EDGES, type Edges } from '../export/edges';
import { h } from './dom';

interface Slider {
  key: keyof Edges;
  text: string;
  hint: string;
  min: number;
  max: number;
  step: number;
  /** The value of the slider from that of the edges, and back: areas are chosen by their side. */
  from(value: number | null): number;
  to(value: number): number | null;
  unit(value: number): string;
}

const pixels = (value: number) => `${value} px`;
const same = { from: (value: number | null) => value ?? 0, to: (value: number) => value };
const square = {
  from: (value: number | null) => Math.round(Math.sqrt(value ?? 0)),
  to: (value: number) => value * value,
  unit: (value: number) => (value ? `${value} x ${value}` : 'off'),
};

const SLIDERS: Slider[] = [
  {
    key: 'feather',
    text: 'Feather',
    hint: 'How far the edge is soft',
    min: 0,
    max: 12,
    step: 0.5,
    ...same,
    unit: pixels,
  },
  {
    key: 'grow',
    text: 'Grow',
    hint: 'Larger, or smaller below 0',
    min: -20,
    max: 20,
    step: 1,
    ...same,
    unit: (value) => (value > 0 ? `+${value} px` : pixels(value)),
  },
  { key: 'fillHoles', text: 'Fill holes', hint: 'Smaller ones are filled', min: 0, max: 120, step: 2, ...square },
  {
    key: 'despeckle',
    text: 'Drop specks',
    hint: 'Smaller parts go; automatic: those that are small beside the object',
    min: -1,
    max: 120,
    step: 1,
    from: (value) => (value === null ? -1 : square.from(value)),
    to: (value) => (value < 0 ? null : square.to(value)),
    unit: (value) => (value < 0 ? 'auto' : square.unit(value)),
  },
];

export class EdgePanel {
  readonly element: HTMLElement;
  private readonly inputs: HTMLInputElement[];
  private readonly values: HTMLElement[];
  private readonly reset: HTMLButtonElement;
  private edges = USUAL_EDGES;

  constructor(change: (edges: Edges) => void) {
    this.inputs = SLIDERS.map(({ key, text, min, max, step, to }) => {
      const input = h('input', { type: 'range', min, max, step, 'aria-label': text });
      input.addEventListener('input', () => change({ ...this.edges, [key]: to(Number(input.value)) }));
      return input;
    });
    this.values = SLIDERS.map(() => h('output', {}));
    this.reset = h(
      'button',
      { type: 'button', class: 'quiet small', on: { click: () => change(USUAL_EDGES) } },
      'As usual',
    );
    const rows = SLIDERS.map(({ text, hint }, i) =>
      h('label', { class: 'slider', title: hint }, h('span', {}, text), this.inputs[i], this.values[i]),
    );
    this.element = h('section', { class: 'card edges' }, h('h2', {}, h('span', {}, 'Edges'), this.reset), ...rows);
    this.show(USUAL_EDGES);
  }

  show(edges: Edges): void {
    this.edges = edges;
    SLIDERS.forEach(({ key, from, unit }, i) => {
      const value = from(edges[key]);
      this.inputs[i].value = String(value);
      this.values[i].textContent = unit(value);
      this.inputs[i].setAttribute('aria-valuetext', unit(value));
    });
    this.reset.hidden = SLIDERS.every(({ key }) => edges[key] === USUAL_EDGES[key]);
  }
}
