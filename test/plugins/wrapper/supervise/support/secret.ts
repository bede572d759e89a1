export const nameOfSecret = 'SECRET=';
export const secretLength = 48;

/** Printable, and not to be found in the text of any program. */
export function secretByte(index: number): number {
  return 33 + ((index * index * 7 + index * 31 + 5) % 90);
}
