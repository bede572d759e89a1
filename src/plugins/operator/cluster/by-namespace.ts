import type { Followed } from './contract.ts';

/** Objects by their namespace. */
export interface ByNamespace<T> {
  in(namespace: string): Iterable<T>;
  /** Without making the objects' list: whether there is any. */
  any(namespace: string): boolean;
}

interface Namespaced {
  readonly namespace: string;
  readonly key: string;
}

/** Follows what it is given, beginning with what is there. */
export function byNamespace<T extends Namespaced>(followed: Followed<T>): ByNamespace<T> {
  const all = new Map<string, Map<string, T>>();
  const put = (value: T) => {
    const within = all.get(value.namespace) ?? new Map<string, T>();
    all.set(value.namespace, within.set(value.key, value));
  };
  const drop = ({ namespace, key }: T) => {
    const within = all.get(namespace);
    within?.delete(key);
    if (within?.size === 0) all.delete(namespace);
  };
  for (const value of followed.values()) put(value);
  followed.onChange((value, _before, gone) => (gone ? drop(value) : put(value)));
  return {
    in: (namespace) => all.get(namespace)?.values() ?? [],
    any: (namespace) => all.has(namespace),
  };
}
