import { createVaultClient } from '../../../keyserver/client.ts';
import { vaultConfig } from '../../../keyserver/settings.ts';
import { createTransit } from '../../../keyserver/transit.ts';
import { MemoryBudget } from '../../../objects/held-memory.ts';
import { createDataKeys } from '../../../objects/keys/data-keys.ts';
import { createRewrapRecords, type RewrapRecords } from '../../../objects/keys/rewrapped-keys.ts';
import { createManifests, type Manifests } from '../../../objects/multipart/manifest-store.ts';
import { type BucketFacts, createBucketFacts } from '../../../objects/state/bucket-facts.ts';
import { DelayedRemovals, UpstreamStateStore } from '../../../objects/state/state-store.ts';
import { defaultCredentials } from '../../../objects/upstream/credentials.ts';
import { createUpstream } from '../../../objects/upstream/s3-upstream.ts';
import { storeOf, trustedAuthorities } from '../../../objects/upstream/store-settings.ts';
import type { Upstream } from '../../../objects/upstream/upstream.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { RewrapSettings } from './settings.ts';
import type { TransitPair } from './target-keys.ts';

/** The object store, its helper objects and the key server. */
export interface RewrapStores {
  readonly upstream: Upstream;
  readonly state: UpstreamStateStore;
  readonly buckets: BucketFacts;
  readonly manifests: Manifests;
  readonly records: RewrapRecords;
  readonly transits: TransitPair;
  close(): Promise<void>;
}

const sending = { upstreamSigning: 'auto', upstreamChecksum: 'crc32' } as const;

/** @throws SvcError for certificates or tokens that cannot be read */
export function openStores(
  settings: RewrapSettings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): RewrapStores {
  const { reservedPrefix, stateBucket, transitKey, transitMount } = settings;
  const config = { ...storeOf(settings), ...sending, reservedPrefix, stateBucket };
  const parts = { credentials: defaultCredentials(env, log), ca: trustedAuthorities(env) };
  const upstream = createUpstream(config, log, parts);
  const buckets = createBucketFacts(upstream);
  const memory = new MemoryBudget();
  const state = new UpstreamStateStore({ config, upstream, buckets, memory });
  const vault = createVaultClient({
    ...{ component: 'rewrap', config: vaultConfig(settings), log },
    onState: () => undefined,
  });
  const { toKey = transitKey, toMount = transitMount } = settings;
  const from = createTransit(vault, { mount: transitMount, keyName: transitKey, joinCalls: true });
  const same = toKey === transitKey && toMount === transitMount;
  const to = same ? from : createTransit(vault, { mount: toMount, keyName: toKey, joinCalls: true });
  const keys = createDataKeys(from, { binding: 'key', requireBound: false });
  const removals = new DelayedRemovals(state, log);
  void vault.start();
  return {
    ...{ upstream, state, buckets },
    manifests: createManifests({ state, keys, reservedPrefix, removals, memory }),
    records: createRewrapRecords(state, reservedPrefix, memory),
    transits: { from, to, alike: !same && toKey === transitKey },
    async close() {
      state.close();
      await vault.close();
    },
  };
}
