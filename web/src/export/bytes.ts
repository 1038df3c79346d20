/** Bytes of our own making, which every browser interface takes. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** The bytes of a text that has only ASCII characters. */
export function ascii(text: string): Bytes {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export function joined(parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
