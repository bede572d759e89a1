import { S3Error } from '../../../core/s3/error.ts';
import { childText } from '../../../core/s3/xml.ts';
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

/** At most this many answers: names come from callers. */
const maxEntries = 1_000;

interface Entry<T> {
  readonly value: Promise<T>;
  readonly until: number;
}

/** Answers by name, each asked for once in `lifeMs` milliseconds. Failures are not kept. */
export class Remembered<T> {
  readonly #ask: (name: string) => Promise<T>;
  readonly #lifeMs: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(ask: (name: string) => Promise<T>, lifeMs: number, now: () => number) {
    this.#ask = ask;
    this.#lifeMs = lifeMs;
    this.#now = now;
  }

  get(name: string): Promise<T> {
    const known = this.#entries.get(name);
    return known && known.until > this.#now() ? known.value : this.renew(name);
  }

  /** Asks whatever is remembered. */
  renew(name: string): Promise<T> {
    const value = this.#ask(name);
    this.set(name, value);
    return value;
  }

  set(name: string, value: Promise<T>): void {
    const entry = { value, until: this.#now() + this.#lifeMs };
    this.#keep(name, entry);
    value.catch(() => {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
    });
  }

  #keep(name: string, entry: Entry<T>): void {
    this.#entries.delete(name);
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined && this.#entries.size >= maxEntries) this.#entries.delete(oldest);
    this.#entries.set(name, entry);
  }
}
