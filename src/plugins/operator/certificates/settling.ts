/** Remembers how long everybody has known a bundle of authorities, by a clock that nobody sets. */
export interface Settling {
  /** @param known everybody can have it from now on, as far as we can tell */
  see(bundle: string, known: boolean): void;
  isSettled(bundle: string): boolean;
  /** Somebody else decides meanwhile. */
  forget(): void;
}

/** @param clock milliseconds that only grow */
export function createSettling(settleMs: number, clock: () => number = () => performance.now()): Settling {
  let seen: { readonly bundle: string; readonly since: number } | undefined;
  return {
    see(bundle, known) {
      if (!known) seen = undefined;
      else if (seen?.bundle !== bundle) seen = { bundle, since: clock() };
    },
    isSettled: (bundle) => seen?.bundle === bundle && clock() - seen.since >= settleMs,
    forget() {
      seen = undefined;
    },
  };
}
