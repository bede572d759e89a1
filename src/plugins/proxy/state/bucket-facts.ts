import { Remembered } from '../../../core/bounded-map.ts';
import { S3Error, s3Error } from '../../../core/s3/error.ts';
import { childText, type XmlElement } from '../../../core/s3/xml.ts';
import { type Upstream, xmlResult } from '../upstream/upstream.ts';

/** What buckets keep, remembered for a short time. */
export interface BucketFacts {
  /** `yes` also where versioning is suspended: older versions are still there. `unknown` when the store does not tell. */
  keepsVersions(bucket: string): Promise<'yes' | 'no' | 'unknown'>;
  /** The same, asked anew: `no` holds for all that was done before, because versioning is never turned off again. */
  keepsVersionsNow(bucket: string): Promise<'yes' | 'no' | 'unknown'>;
  /** True when the bucket has object lock, and when the store does not tell. */
  locked(bucket: string): Promise<boolean>;
}

type Fact = 'yes' | 'no' | 'unknown';

const lifeMs = 30_000;
/** At most this many answers of each kind: names come from callers. */
const mostAnswers = 1_000;
const answerLimit = 64 * 1024;
/** What stores say of buckets that never had such a configuration. */
const neverSet = new Set(['ObjectLockConfigurationNotFoundError', 'VersioningNotConfigured']);

/** Asks the store; a failure on the way is thrown and not remembered. */
export function createBucketFacts(
  upstream: Upstream,
  now: () => number = Date.now,
  waitMs = answerMs,
): BucketFacts {
  const ask: Ask = (bucket, subresource, root) =>
    configuration({ upstream, waitMs }, bucket, subresource, root);
  const age = { mostMs: lifeMs, now };
  const versioning = new Remembered<Fact>(mostAnswers, age);
  const lock = new Remembered<Fact>(mostAnswers, age);
  const keepsVersionsNow = (bucket: string) => versioning.keep(bucket, versioningOf(ask, bucket));
  return {
    keepsVersions: (bucket) => versioning.get(bucket) ?? keepsVersionsNow(bucket),
    keepsVersionsNow,
    locked: async (bucket) => (await (lock.get(bucket) ?? lock.keep(bucket, lockOf(ask, bucket)))) !== 'no',
  };
}

type Ask = (bucket: string, subresource: string, root: string) => Promise<XmlElement>;

function versioningOf(ask: Ask, bucket: string): Promise<Fact> {
  return told(async () => {
    const answer = await ask(bucket, 'versioning', 'VersioningConfiguration');
    return childText(answer, 'Status') === undefined ? 'no' : 'yes';
  });
}

function lockOf(ask: Ask, bucket: string): Promise<Fact> {
  return told(async () => {
    const answer = await ask(bucket, 'object-lock', 'ObjectLockConfiguration');
    return childText(answer, 'ObjectLockEnabled') === 'Enabled' ? 'yes' : 'no';
  });
}

/** Many requests wait for one answer: a store that is silent for one must not hold them for a minute. */
const answerMs = 10_000;

async function configuration(
  { upstream, waitMs }: { readonly upstream: Upstream; readonly waitMs: number },
  bucket: string,
  subresource: string,
  root: string,
): Promise<XmlElement> {
  const signal = AbortSignal.timeout(waitMs);
  try {
    const query: [string, string][] = [[subresource, '']];
    return await xmlResult(
      await upstream.send({ method: 'GET', bucket, key: '', query, signal }),
      root,
      answerLimit,
    );
  } catch (error) {
    if (!signal.aborted) throw error;
    throw s3Error(
      'ServiceUnavailable',
      'The object store does not say in time what the bucket keeps. Please retry.',
    );
  }
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
