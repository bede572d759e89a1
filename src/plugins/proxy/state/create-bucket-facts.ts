import { S3Error } from '../../../core/s3/error.ts';
import { childText } from '../../../core/s3/xml.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { xmlResult } from '../upstream/xml-result.ts';
import type { BucketFacts } from './bucket-facts.ts';
import { Remembered } from './remembered.ts';

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
