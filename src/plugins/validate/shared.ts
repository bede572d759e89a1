import type { CheckContext } from './contract.ts';

/**
 * What several checks need: loaded when the first one asks, once for an attempt, under the attempt's own signal.
 * A failure to load is one for all that ask.
 */
export function shared<T>(
  load: (context: CheckContext) => Promise<T>,
): (context: CheckContext) => Promise<T> {
  const loaded = new WeakMap<CheckContext, Promise<T>>();
  return (context) => {
    const known = loaded.get(context);
    if (known !== undefined) return known;
    const loading = load(context);
    loaded.set(context, loading);
    return loading;
  };
}
