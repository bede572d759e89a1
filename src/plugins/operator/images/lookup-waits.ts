/** Places of reviews that wait for registries. */
export interface LookupWaits {
  /** @returns what gives the place back; undefined where there is none left */
  enter(namespace: string): (() => void) | undefined;
}

/**
 * A registry that is silent keeps each review about its images for as long as a review may take. So that others are
 * answered meanwhile, only some may wait, of each namespace fewer.
 * @param most at a time; of one namespace half as many
 */
export function createLookupWaits(most: number): LookupWaits {
  const mostOfNamespace = Math.ceil(most / 2);
  const waiting = new Map<string, number>();
  let all = 0;
  const count = (namespace: string, by: 1 | -1) => {
    const next = (waiting.get(namespace) ?? 0) + by;
    all += by;
    if (next === 0) waiting.delete(namespace);
    else waiting.set(namespace, next);
  };
  return {
    enter(namespace) {
      if (all >= most || (waiting.get(namespace) ?? 0) >= mostOfNamespace) return undefined;
      count(namespace, 1);
      let left = false;
      return () => {
        if (!left) count(namespace, -1);
        left = true;
      };
    },
  };
}
