/** Since when policies have not been needed: they are kept a while, since pods come back. */
export interface Unneeded {
  /** @returns how long it is still kept in milliseconds, 0 when it has been long enough */
  remaining(key: string): number;
  /** It is needed again, or is gone. */
  forget(key: string): void;
}

export function createUnneeded(graceMs: number, now: () => number): Unneeded {
  const since = new Map<string, number>();
  return {
    remaining(key) {
      const began = since.get(key) ?? now();
      since.set(key, began);
      return Math.max(0, began + graceMs - now());
    },
    forget: (key) => void since.delete(key),
  };
}
