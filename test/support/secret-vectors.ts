/** A region of test/vectors/secret-records.json. */
export interface RegionVector {
  readonly name: string;
  readonly size: number;
  readonly parts: readonly { at: number; text?: string; hex?: string }[];
  readonly tail?: string;
  readonly number: number;
  readonly start: number;
  readonly values: readonly [key: string, hex: string][];
}

export function regionOfVector({ size, parts, tail = '' }: RegionVector): Uint8Array {
  const region = new Uint8Array(size);
  for (const { at, text = '', hex = '' } of parts) {
    region.set([...Buffer.from(text), ...Buffer.from(hex, 'hex')], at);
  }
  region.set(Buffer.from(tail, 'hex'), size - tail.length / 2);
  return region;
}
