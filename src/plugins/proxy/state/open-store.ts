import type { Logger } from '../../../runtime/logging/logger.ts';
import type { ProxyConfig } from '../config.ts';
import { createUpstream } from '../upstream/create-upstream.ts';
import { defaultCredentials } from '../upstream/credentials.ts';
import { trustedAuthorities } from '../upstream/trust.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { BucketFacts } from './bucket-facts.ts';
import { createBucketFacts } from './create-bucket-facts.ts';
import { createStateStore } from './create-state-store.ts';
import type { StateStore } from './state-store.ts';

/** Both roads to the store, with the same credentials. */
export interface OpenStore {
  readonly upstream: Upstream;
  readonly state: StateStore;
  readonly buckets: BucketFacts;
  close(): void;
}

/** @throws SvcError when AWS_CA_BUNDLE cannot be read */
export function openStore(
  config: ProxyConfig,
  log: Logger,
  env: Readonly<Record<string, string | undefined>>,
): OpenStore {
  const credentials = defaultCredentials(env, log);
  const ca = trustedAuthorities(env);
  const upstream = createUpstream(config, log, { credentials, ca });
  const buckets = createBucketFacts(upstream);
  const state = createStateStore({ config, credentials, buckets, ca });
  const close = () => {
    upstream.close();
    state.close();
  };
  return { upstream, state, buckets, close };
}
