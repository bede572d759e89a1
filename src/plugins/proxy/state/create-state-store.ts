import type { StateParts } from './state-parts.ts';
import type { StateStore } from './state-store.ts';

/** The SDK takes 20 MB, so it is loaded when a helper object is first asked for. */
export function createStateStore(parts: StateParts): StateStore {
  let loading: Promise<StateStore> | undefined;
  const store = () => {
    loading ??= import('./sdk-state-store.ts').then(({ SdkStateStore }) => new SdkStateStore(parts));
    return loading;
  };
  return {
    put: async (bucket, key, body) => (await store()).put(bucket, key, body),
    get: async (bucket, key, limit) => (await store()).get(bucket, key, limit),
    async *list(bucket, prefix) {
      yield* (await store()).list(bucket, prefix);
    },
    delete: async (bucket, keys) => (await store()).delete(bucket, keys),
    close: () => {
      loading?.then((opened) => opened.close());
    },
  };
}
