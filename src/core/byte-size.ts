const units = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const;
const shape = /^(0|[1-9]\d*)(KiB|MiB|GiB|TiB)?$/;

export class ByteSizeError extends Error {
  override readonly name = 'ByteSizeError';
}

/**
 * Bytes of `16MiB`, `64KiB`, `5GiB`, `1TiB` or a plain number of bytes.
 * Whole numbers only, no blanks, no decimal units.
 * @throws ByteSizeError
 */
export function parseByteSize(text: string): number {
  const match = shape.exec(text);
  if (match === null) throw new ByteSizeError('not a whole number of bytes, KiB, MiB, GiB or TiB');
  const unit = match[2] as keyof typeof units | undefined;
  const bytes = Number(match[1]) * (unit === undefined ? 1 : units[unit]);
  if (!Number.isSafeInteger(bytes)) throw new ByteSizeError('too large');
  return bytes;
}

/** The largest unit that divides the size without a rest: `16MiB`, `1000`. */
export function formatByteSize(bytes: number): string {
  const unit = (['TiB', 'GiB', 'MiB', 'KiB'] as const).find((name) => bytes % units[name] === 0);
  return bytes === 0 || unit === undefined ? String(bytes) : `${bytes / units[unit]}${unit}`;
}
