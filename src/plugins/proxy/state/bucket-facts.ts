import { BoundedMap } from '../../../core/bounded-map.ts';
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
  const versioning = new Remembered((bucket) => versioningOf(ask, bucket), lifeMs, now);
  const lock = new Remembered((bucket) => lockOf(ask, bucket), lifeMs, now);
  return {
    keepsVersions: (bucket) => versioning.get(bucket),
    keepsVersionsNow: (bucket) => versioning.renew(bucket),
    locked: async (bucket) => (await lock.get(bucket)) !== 'no',
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

/** At most this many answers: names come from callers. */
const maxEntries = 1_000;

/** Answers by name, each asked for once in `lifeMs` milliseconds. Failures are not kept. */
export class Remembered<T> {
  readonly #ask: (name: string) => Promise<T>;
  readonly #answers: BoundedMap<string, Promise<T>>;

  constructor(ask: (name: string) => Promise<T>, lifeMs: number, now: () => number) {
    this.#ask = ask;
    this.#answers = new BoundedMap(maxEntries, { age: { mostMs: lifeMs, now } });
  }

  get(name: string): Promise<T> {
    return this.#answers.get(name) ?? this.renew(name);
  }

  /** Asks whatever is remembered. */
  renew(name: string): Promise<T> {
    const value = this.#ask(name);
    this.set(name, value);
    return value;
  }

  set(name: string, value: Promise<T>): void {
    this.#answers.set(name, value);
    value.catch(() => {
      if (this.#answers.peek(name) === value) this.#answers.delete(name);
    });
  }
}
