import type { Logger } from '../../../runtime/logging/logger.ts';
import { defaultCredentials } from '../../../runtime/object-store/credentials.ts';
import { storeOf, trustedAuthorities } from '../../../runtime/object-store/settings.ts';
import { createVaultClient } from '../../../runtime/vault/client.ts';
import { vaultConfig } from '../../../runtime/vault/settings.ts';
import { createTransit } from '../../../runtime/vault/transit.ts';
import { createDataKeys } from '../data-keys.ts';
import { MemoryBudget } from '../held-memory.ts';
import { createManifests, type Manifests } from '../multipart/manifest-store.ts';
import { createRewrapRecords, type RewrapRecords } from '../rewrapped-keys.ts';
import { type BucketFacts, createBucketFacts } from '../state/bucket-facts.ts';
import { DelayedRemovals, UpstreamStateStore } from '../state/state-store.ts';
import { createUpstream } from '../upstream/s3-upstream.ts';
import type { Upstream } from '../upstream/upstream.ts';
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
  const vault = createVaultClient({ config: vaultConfig(settings), log, onState: () => undefined });
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
