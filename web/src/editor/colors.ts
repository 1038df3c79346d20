/** Colours that stand out over a photograph, and from each other. */
const COLORS = ['#ff4d6d', '#22b8ff', '#ffc233', '#3ddc84', '#b57bff', '#ff8a3d', '#2de2e6', '#ff6ad5'];

export function colorOf(id: number): string {
  return COLORS[(id - 1) % COLORS.length];
}

export function rgbOf(color: string): [number, number, number] {
  const number = parseInt(color.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}
