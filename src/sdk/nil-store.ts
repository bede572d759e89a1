import { type Environment, required, variableOf } from './environment.ts';
import type { Store } from './store.ts';

/** What a program has that was not started under the wrapper: the environment. */
export function nilStore(environment: Environment): Store {
  return {
    state: 'nil',
    get: (key) => variableOf(environment, key),
    mustGet: (key) => required(key, variableOf(environment, key)),
    has: (key) => variableOf(environment, key) !== '',
    keys: () => undefined,
    view: () => undefined,
    close: () => undefined,
  };
}
