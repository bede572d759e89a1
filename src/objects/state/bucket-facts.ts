import { Remembered } from '../../runtime/bounds/bounded-map.ts';
import { S3Error, s3Error } from '../s3/error.ts';
import { type Upstream, xmlResult } from '../upstream/upstream.ts';

/** Properties of buckets, cached for a short time. */
export interface BucketFacts {
  /** `yes` also if versioning is suspended, as older versions still exist; `unknown` if the store does not tell. */
  keepsVersions(bucket: string): Promise<'yes' | 'no' | 'unknown'>;
  /** Bypasses the cache. `no` also covers everything done before, because versioning can never be turned off again. */
  keepsVersionsNow(bucket: string): Promise<'yes' | 'no' | 'unknown'>;
  /** True if the bucket has object lock, or if the store does not tell. */
  locked(bucket: string): Promise<boolean>;
}

type Fact = 'yes' | 'no' | 'unknown';

const lifeMs = 30_000;
/** Maximum number of cached answers of each kind, because bucket names come from callers. */
const maxAnswers = 1_000;
const answerLimit = 64 * 1024;
/** Errors for buckets that never had such a configuration. */
const neverSet = new Set(['ObjectLockConfigurationNotFoundError', 'VersioningNotConfigured']);

/** Asks the store; failures are thrown and not cached. */
export function createBucketFacts(
  upstream: Upstream,
  now: () => number = () => performance.now(),
  waitMs = answerMs,
): BucketFacts {
  const ask: Ask = (bucket, subresource, shape) =>
    configuration({ upstream, waitMs }, bucket, subresource, shape);
  const age = { mostMs: lifeMs, now };
  const versioning = new Remembered<Fact>(maxAnswers, age);
  const lock = new Remembered<Fact>(maxAnswers, age);
  const keepsVersionsNow = (bucket: string) => versioning.keep(bucket, versioningOf(ask, bucket));
  return {
    keepsVersions: (bucket) => versioning.get(bucket) ?? keepsVersionsNow(bucket),
    keepsVersionsNow,
    locked: async (bucket) => (await (lock.get(bucket) ?? lock.keep(bucket, lockOf(ask, bucket)))) !== 'no',
  };
}

type Ask = (bucket: string, subresource: string, shape: Configuration) => Promise<string | undefined>;

/** A configuration, and the element below its root that tells. */
interface Configuration {
  readonly root: string;
  readonly field: string;
}

function versioningOf(ask: Ask, bucket: string): Promise<Fact> {
  return told(async () => {
    const status = await ask(bucket, 'versioning', { root: 'VersioningConfiguration', field: 'Status' });
    return status === undefined ? 'no' : 'yes';
  });
}

function lockOf(ask: Ask, bucket: string): Promise<Fact> {
  return told(async () => {
    const shape = { root: 'ObjectLockConfiguration', field: 'ObjectLockEnabled' };
    return (await ask(bucket, 'object-lock', shape)) === 'Enabled' ? 'yes' : 'no';
  });
}

/** Many requests may wait for one answer, so a silent store must not hold them for a minute. */
const answerMs = 10_000;

async function configuration(
  { upstream, waitMs }: { readonly upstream: Upstream; readonly waitMs: number },
  bucket: string,
  subresource: string,
  { root, field }: Configuration,
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(waitMs);
  try {
    const query: [string, string][] = [[subresource, '']];
    const response = await upstream.send({ method: 'GET', bucket, key: '', query, signal });
    const { top } = await xmlResult(response, { root, fields: [field] }, answerLimit);
    return top.get(field);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw s3Error(
      'ServiceUnavailable',
      'The object store does not say in time what the bucket keeps. Please retry.',
    );
  }
}

/** A refusal counts as an answer; an unavailable store does not. */
async function told(ask: () => Promise<Fact>): Promise<Fact> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof S3Error) || error.status === 503) throw error;
    return neverSet.has(error.code) ? 'no' : 'unknown';
  }
}
