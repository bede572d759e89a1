import type { Store } from '../store.ts';
import { mask } from './mask.ts';

export interface DemoResponse {
  readonly status: number;
  readonly body: unknown;
}

/** What the demo answers from the store as it is at the moment. `named` are keys to show besides the store's own. */
export function responseTo(path: string, store: Store, named: readonly string[]): DemoResponse {
  switch (path) {
    case '/':
      return { status: 200, body: overview(store, named) };
    case '/health':
      return { status: 200, body: { status: 'ok', delivery: delivery(store) } };
    case '/protected':
      return { status: 200, body: { secrets: names(store, named).map((key) => masked(store, key)) } };
    default:
      return { status: 404, body: { error: 'not found' } };
  }
}

export function delivery(store: Store): 'memfd_secret' | 'env_vars' {
  return store.state === 'nil' ? 'env_vars' : 'memfd_secret';
}

function overview(store: Store, named: readonly string[]): { keys: string[]; count: number } {
  const keys = names(store, named).filter((key) => store.has(key));
  return { keys, count: keys.length };
}

function masked(store: Store, key: string): { key: string; available: boolean; value: string } {
  const available = store.has(key);
  return { key, available, value: available ? mask(store.get(key)) : '' };
}

function names(store: Store, named: readonly string[]): string[] {
  return [...new Set([...(store.keys() ?? []), ...named])];
}
