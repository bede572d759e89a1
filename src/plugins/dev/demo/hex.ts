/** A named stretch of a body. */
export interface Region {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface HexLine {
  /** Of the region, on its first line only. */
  readonly name: string;
  readonly region: string;
  /** 16 bytes at most: `4e 6f …`, padded to full width. */
  readonly hex: string;
  /** The same bytes as ASCII, dots for what cannot be shown. */
  readonly text: string;
}

const perLine = 16;
const hexWidth = perLine * 3 - 1;

/** 16 bytes a line; a region begins on a line of its own. */
export function hexLines(regions: readonly Region[]): HexLine[] {
  return regions.flatMap(({ name, bytes }) =>
    slices(bytes).map((slice, index) => ({
      name: index === 0 ? name : '',
      region: name,
      hex: hexOf(slice),
      text: slice.toString('latin1').replace(/[^\x20-\x7e]/g, '.'),
    })),
  );
}

function slices(bytes: Buffer): Buffer[] {
  const count = Math.ceil(bytes.length / perLine);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * perLine, (index + 1) * perLine));
}

const hexOf = (bytes: Buffer): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join(' ')
    .padEnd(hexWidth);
