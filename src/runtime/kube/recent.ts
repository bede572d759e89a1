export interface RecentOptions {
  readonly now: () => number;
  readonly freshMs: number;
  /** The oldest is forgotten beyond so many. */
  readonly maxKeys: number;
}

/** Remembers answers for a while; failures are not remembered. */
export interface Recent<T> {
  get(key: string, load: () => Promise<T>): Promise<T>;
}

export function createRecent<T>({ now, freshMs, maxKeys }: RecentOptions): Recent<T> {
  const known = new Map<string, { readonly value: T; readonly at: number }>();
  return {
    async get(key, load) {
      const entry = known.get(key);
      if (entry !== undefined && now() - entry.at < freshMs) return entry.value;
      const at = now();
      const value = await load();
      known.delete(key);
      known.set(key, { value, at });
      const [oldest] = known.keys();
      if (known.size > maxKeys && oldest !== undefined) known.delete(oldest);
      return value;
    },
  };
}
