import type { ProxyConfig } from '../config.ts';
import type { CredentialSource } from '../upstream/credentials.ts';
import type { BucketFacts } from './bucket-facts.ts';
import type { StateStore } from './state-store.ts';

export interface StateParts {
  readonly config: Pick<ProxyConfig, 'upstream' | 'region' | 'stateBucket' | 'reservedPrefix'>;
  readonly credentials: CredentialSource;
  readonly buckets: BucketFacts;
  /** PEM certificates to trust in place of Node's own. */
  readonly ca?: string | undefined;
}

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
