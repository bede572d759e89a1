import { EnvelopeError } from '../../core/envelope/error.ts';
import { readEnvelope } from '../../core/envelope/metadata.ts';
import { S3Error } from '../../core/s3/error.ts';
import { s3Error } from '../../core/s3/error-catalog.ts';
import { childText } from '../../core/s3/xml.ts';
import type { ComponentDeps } from '../../runtime/component/contract.ts';
import { defaultCredentials } from '../../runtime/object-store/credentials.ts';
import { trustedAuthorities } from '../../runtime/object-store/trust.ts';
import type { Transit } from '../../runtime/vault/contract.ts';
import type { ProxyConfig } from './config.ts';
import type { ProxyContext } from './context.ts';
import { createDataKeys } from './keys/create-data-keys.ts';
import type { ProxyMetrics } from './metrics.ts';
import { createManifests } from './multipart/manifest-store.ts';
import { Uploads } from './multipart/uploads.ts';
import { BlockPool } from './read/body/block-pool.ts';
import { VerifyBudget } from './read/body/verify-budget.ts';
import { versionQuery } from './read/fetch-stored.ts';
import { loadLayout } from './read/layout.ts';
import type { ObjectAddress, ObjectReader, StoredObject } from './read/object-reader.ts';
import { Plaintext } from './read/plaintext.ts';
import type { ReaderParts } from './read/reader-parts.ts';
import { Spool } from './read/spool/spool.ts';
import { SpoolSpace } from './read/spool/spool-space.ts';
import type { BucketFacts } from './state/bucket-facts.ts';
import { DelayedRemovals } from './state/delayed-removals.ts';
import { Remembered } from './state/remembered.ts';
import { UpstreamStateStore } from './state/upstream-state-store.ts';
import { createUpstream, type UpstreamParts } from './upstream/create-upstream.ts';
import { refusal } from './upstream/refusal.ts';
import type { Upstream, UpstreamResponse } from './upstream/upstream.ts';
import { xmlResult } from './upstream/xml-result.ts';

/** Helper objects have connections of their own: requests that hold one to the store wait for them. */
const helperLimits = { sockets: 32, idleMs: 20_000 };

export interface ContextParts {
  readonly config: ProxyConfig;
  readonly transit: Transit;
  readonly metrics: ProxyMetrics;
  readonly log: ComponentDeps['log'];
  readonly env: ComponentDeps['env'];
}

export interface OwnedContext extends ProxyContext {
  /** How requests to the store are signed, and whom to trust there. */
  readonly trust: Pick<UpstreamParts, 'credentials' | 'ca'>;
  /** Gives back connections, memory and disk. */
  close(): void;
}

/** Puts the rooms of one proxy process together. @throws SvcError when AWS_CA_BUNDLE cannot be read */
export function createContext({ config, transit, metrics, log, env }: ContextParts): OwnedContext {
  const credentials = defaultCredentials(env, log);
  const ca = trustedAuthorities(env);
  const upstream = createUpstream(config, log, { credentials, ca });
  const buckets = createBucketFacts(upstream);
  const helpers = createUpstream(config, log, { credentials, ca, limits: helperLimits });
  const { reservedPrefix } = config;
  const state = new UpstreamStateStore({ config, upstream: helpers, buckets });
  const beside = { stateBucket: undefined, reservedPrefix };
  const contents = new UpstreamStateStore({ config: beside, upstream: helpers, buckets });
  const removals = new DelayedRemovals(state, log);
  const keys = createDataKeys(transit, config);
  const manifests = createManifests({ state, keys, reservedPrefix, removals });
  const uploads = new Uploads(state, reservedPrefix, keys, removals);
  const spoolSpace = new SpoolSpace(config.spoolSize);
  const stores = { upstream, state, contents, buckets };
  const shared = { config, log, metrics, keys, ...stores, manifests, uploads, spoolSpace };
  const reader = createObjectReader(shared);
  const close = () => {
    reader.close();
    removals.close();
    state.close();
    upstream.close();
  };
  return { ...shared, reader, trust: { credentials, ca }, close };
}

type Fact = 'yes' | 'no' | 'unknown';

const lifeMs = 30_000;
const answerLimit = 64 * 1024;
/** What stores say of buckets that never had such a configuration. */
const neverSet = new Set(['ObjectLockConfigurationNotFoundError', 'VersioningNotConfigured']);

/** Asks the store; a failure on the way is thrown and not remembered. */
export function createBucketFacts(upstream: Upstream, now: () => number = Date.now): BucketFacts {
  const versioning = new Remembered((bucket) => versioningOf(upstream, bucket), lifeMs, now);
  const lock = new Remembered((bucket) => lockOf(upstream, bucket), lifeMs, now);
  return {
    keepsVersions: (bucket) => versioning.get(bucket),
    keepsVersionsNow: (bucket) => versioning.renew(bucket),
    locked: async (bucket) => (await lock.get(bucket)) !== 'no',
  };
}

function versioningOf(upstream: Upstream, bucket: string): Promise<Fact> {
  return told(async () => {
    const answer = await configuration(upstream, bucket, 'versioning', 'VersioningConfiguration');
    return childText(answer, 'Status') === undefined ? 'no' : 'yes';
  });
}

function lockOf(upstream: Upstream, bucket: string): Promise<Fact> {
  return told(async () => {
    const answer = await configuration(upstream, bucket, 'object-lock', 'ObjectLockConfiguration');
    return childText(answer, 'ObjectLockEnabled') === 'Enabled' ? 'yes' : 'no';
  });
}

async function configuration(upstream: Upstream, bucket: string, subresource: string, root: string) {
  const response = await upstream.send({ method: 'GET', bucket, key: '', query: [[subresource, '']] });
  return xmlResult(response, root, answerLimit);
}

/** A refusal is an answer too; only a store that is away is not. */
async function told(ask: () => Promise<Fact>): Promise<Fact> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof S3Error) || error.status === 503) throw error;
    return neverSet.has(error.code) ? 'no' : 'unknown';
  }
}

/** The reader of one proxy process; it owns the memory and the disk that verifying takes. */
export function createObjectReader(parts: ReaderParts): ObjectReader {
  const { config, upstream, manifests } = parts;
  const budget = new VerifyBudget(config.verifyBudget);
  const pool = new BlockPool(config.verifyBudget);
  const spool = new Spool({ folder: config.spoolDir, space: parts.spoolSpace });
  const plaintext = new Plaintext(parts, { config, budget, pool, spool });
  return {
    stat: async (name, { versionId, headers, access = {}, signal }) => {
      const address: ObjectAddress = { name, versionId, access };
      const response = await upstream.send({
        method: 'HEAD',
        ...name,
        query: versionQuery(address),
        headers: { ...access, ...headers },
        ...(signal ? { signal } : {}),
      });
      if (response.status !== 200) throw preconditionOf(await refusal(response));
      response.body.resume();
      return describe(config, address, response.headers);
    },
    describe: (address, headers) => describe(config, address, headers),
    layout: (object, signal) => loadLayout(manifests, object, signal),
    decrypt: (object, layout, response, options) => plaintext.arriving(object, layout, response, options),
    plaintext: (object, layout, range, options) => plaintext.fetched(object, layout, range, options),
    verifySize: (object, layout, options) => plaintext.verifySize(object, layout, options),
    close: () => spool.close(),
  };
}

/** A condition that was not met is 412 for those who want the object for something else than a GET. */
const preconditionOf = (error: S3Error): S3Error =>
  error.status === 304 ? s3Error('PreconditionFailed') : error;

/** @throws EnvelopeError `partial-metadata`, `malformed-metadata`, `unencrypted`, `wrong-size`. */
function describe(
  { unencryptedReads }: Pick<ProxyConfig, 'unencryptedReads'>,
  { name, versionId, access }: ObjectAddress,
  headers: UpstreamResponse['headers'],
): StoredObject {
  const envelope = readEnvelope(headers);
  if (envelope === undefined && unencryptedReads === 'deny')
    throw new EnvelopeError('unencrypted', 'the object is not encrypted and --unencrypted-reads is deny');
  const storedSize = Number(headers['content-length'] ?? Number.NaN);
  if (!Number.isSafeInteger(storedSize))
    throw new EnvelopeError('wrong-size', 'the store does not say how long the object is');
  return { name, versionId, access, headers, etag: headers.etag ?? '', envelope, storedSize };
}
