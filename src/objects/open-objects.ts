import type { HangGuard } from '../keyserver/hang-guard.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import type { ObjectsConfig } from './config.ts';
import type { ObjectMetrics, ObjectServices } from './context.ts';
import { bytesWithPlaintext, MemoryBudget } from './held-memory.ts';
import type { DataKeys } from './keys/data-keys.ts';
import { withRecovery } from './keys/recovery-keys.ts';
import { createRewrapRecords, type RewrapRecords, withRewraps } from './keys/rewrapped-keys.ts';
import { createManifests } from './multipart/manifest-store.ts';
import { createPartKeys } from './multipart/part-keys.ts';
import { UploadKeys } from './multipart/upload-keys.ts';
import { Uploads } from './multipart/uploads.ts';
import { SpoolSpace } from './read/body/spool.ts';
import { createObjectReader } from './read/create-object-reader.ts';
import { createBucketFacts } from './state/bucket-facts.ts';
import { storedPart } from './state/listings.ts';
import { DelayedRemovals, UpstreamStateStore } from './state/state-store.ts';
import { defaultCredentials } from './upstream/credentials.ts';
import { createUpstream, type UpstreamParts } from './upstream/s3-upstream.ts';
import { trustedAuthorities } from './upstream/store-settings.ts';

/** Helper objects use their own connections, because requests that hold a connection to the store wait for them. */
const helperLimits = { sockets: 32, idleMs: 20_000 };

interface ObjectsParts {
  readonly config: ObjectsConfig;
  /** As the key server, or a recovery key, opens them. */
  readonly keys: DataKeys;
  readonly hangGuard: HangGuard;
  readonly metrics: ObjectMetrics;
  readonly log: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether part keys may be requested before their parts arrive. */
  readonly keysAhead: boolean;
}

export interface OpenObjects extends ObjectServices {
  /** How to sign requests to the store, and which CAs to trust there. */
  readonly trust: Pick<UpstreamParts, 'credentials' | 'ca'>;
  /** Keys that were wrapped anew and are not in their objects' headers. */
  readonly rewraps: RewrapRecords;
  /** Releases connections, memory and disk. */
  close(): void;
}

/** Wires up the engine over one store and one key server. @throws SvcError if AWS_CA_BUNDLE cannot be read */
export function openObjects(parts: ObjectsParts): OpenObjects {
  const { config, hangGuard, metrics, log, env, keysAhead } = parts;
  const credentials = defaultCredentials(env, log);
  const ca = trustedAuthorities(env);
  const upstream = createUpstream(config, log, { credentials, ca });
  const buckets = createBucketFacts(upstream);
  const memory = new MemoryBudget(bytesWithPlaintext(config.verifyBudget));
  const helpers = createUpstream(config, log, { credentials, ca, limits: helperLimits });
  const { reservedPrefix } = config;
  const state = new UpstreamStateStore({ config, upstream: helpers, buckets, memory });
  const beside = { stateBucket: undefined, reservedPrefix };
  const contents = new UpstreamStateStore({ config: beside, upstream: helpers, buckets, memory });
  const removals = new DelayedRemovals(state, log);
  const rewraps = createRewrapRecords(state, reservedPrefix, memory);
  const keys = withRecovery(withRewraps(parts.keys, rewraps), config.recoveryRecipients);
  const partKeys = createPartKeys(keys, { ahead: keysAhead, hangGuard });
  const manifests = createManifests({ state, keys, reservedPrefix, buckets, removals, memory });
  const uploadKeys = new UploadKeys(keys);
  const uploads = new Uploads({
    ...{ state, reservedPrefix, keys: uploadKeys, removals, memory },
    currentEtag: async (upload, number) => (await storedPart(upstream, upload, number))?.etag,
  });
  const spoolSpace = new SpoolSpace(config.spoolSize);
  const stores = { upstream, state, contents, buckets };
  const shared = {
    config,
    log,
    metrics,
    memory,
    keys,
    partKeys,
    uploadKeys,
    ...stores,
    manifests,
    uploads,
    spoolSpace,
  };
  const reader = createObjectReader(shared);
  const close = () => {
    reader.close();
    partKeys.close();
    uploadKeys.close();
    removals.close();
    state.close();
    upstream.close();
  };
  return { ...shared, reader, rewraps, trust: { credentials, ca }, close };
}
