/** Whether what is there says all that is wanted, and nothing else in the same places. */
export function covers(there: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(there) || there.length !== wanted.length) return false;
    return wanted.every((item, at) => covers(there[at], item));
  }
  if (typeof wanted !== 'object' || wanted === null) return there === wanted;
  if (typeof there !== 'object' || there === null) return false;
  return Object.entries(wanted).every(([name, value]) => covers(Reflect.get(there, name), value));
}
