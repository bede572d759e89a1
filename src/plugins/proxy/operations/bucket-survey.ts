import type { ObjectServices } from '../../../objects/context.ts';
import { manifestKey, parseManifest, readPartRecord, uploadPrefix } from '../../../objects/format/records.ts';
import { parseRewrapRecord } from '../../../objects/format/rewrap-record.ts';
import { memoryCosts } from '../../../objects/held-memory.ts';
import { manifestLimit } from '../../../objects/multipart/manifest-store.ts';
import { readDoneRecord, readUploadRecord } from '../../../objects/multipart/upload-record.ts';
import { s3Error } from '../../../objects/s3/error.ts';
import type { StateVersion } from '../../../objects/state/listings.ts';
import { readInTurn } from '../../../objects/state/read-in-turn.ts';
import type { Admit } from '../../../objects/state/state-store.ts';
import { concurrently } from '../../../runtime/lifecycle/wait.ts';

const readsAtOnce = 8;
/** Approximate memory for a map entry, in bytes. */
const entryCost = 100;
/** Milliseconds that every Complete or copy stays below: older helper objects are not needed by one in progress. */
const settledAfter = 60 * 60 * 1000;

type Services = Pick<ObjectServices, 'contents' | 'config' | 'memory'>;

/**
 * Finds out, page by page, whether a bucket holds nothing but its own helper objects, and keeps those that an open or
 * very recent upload may need again.
 */
export class BucketSurvey {
  /** Bodies of helper objects by key, in case the bucket cannot be deleted. */
  readonly kept = new Map<string, string>();
  readonly #services: Services;
  readonly #bucket: string;
  readonly #open = new Set<string>();
  readonly #uploads: string;
  readonly #rewraps: string;
  #bytes = 0;

  private constructor(services: Services, bucket: string) {
    this.#services = services;
    this.#bucket = bucket;
    this.#uploads = `${services.config.reservedPrefix}uploads/`;
    this.#rewraps = `${services.config.reservedPrefix}rewraps/`;
  }

  /** The caller holds memory for a survey. @throws S3Error if the store refuses, or there are too many open uploads */
  static async begin(services: Services, bucket: string): Promise<BucketSurvey> {
    const survey = new BucketSurvey(services, bucket);
    for await (const page of services.contents.openUploads(bucket))
      for (const id of page) {
        const prefix = uploadPrefix(services.config.reservedPrefix, id);
        survey.#count(prefix);
        survey.#open.add(prefix);
      }
    return survey;
  }

  /**
   * @returns what may be deleted: all versions and delete markers, except of objects that have just disappeared;
   *   undefined if the page holds anything else: objects of callers with their versions and delete markers, helper
   *   objects of other buckets (this one being a state bucket), or helper objects of an unknown kind
   * @throws S3Error if the store refuses, or there are too many helper objects
   */
  async judge(page: readonly StateVersion[]): Promise<readonly StateVersion[] | undefined> {
    if (!page.every(({ key }) => this.#isHelper(key))) return undefined;
    const gone = new Set<string>();
    let foreign = false;
    await concurrently([...byKey(page)], readsAtOnce, async (entries) => {
      if (foreign) return;
      const kind = await this.#look(entries);
      if (kind === 'gone') gone.add(entries[0].key);
      if (kind === 'foreign') foreign = true;
    });
    // an unversioned object may be written again with unknown content; versions are never rewritten
    return foreign
      ? undefined
      : page.filter(({ key, versionId }) => versionId !== undefined || !gone.has(key));
  }

  #isHelper(key: string): boolean {
    const { reservedPrefix } = this.#services.config;
    return key.startsWith(reservedPrefix) && helperPattern.test(key.slice(reservedPrefix.length));
  }

  async #look(entries: Entries): Promise<'own' | 'gone' | 'foreign'> {
    const [object] = entries;
    const { key } = object;
    const isPart = key.startsWith(this.#uploads) && !/\/(create|done)$/.test(key);
    const body = isPart ? this.#partBody(key) : await this.#read(object, false);
    if (body === undefined) return isPart ? 'foreign' : this.#lookBehind(entries);
    if (!isPart && !this.#isOwn(key, body)) return 'foreign';
    if (Date.now() - timeOf(object) < settledAfter || this.#isOpen(key)) this.#keep(key, body);
    return 'own';
  }

  /** A part's record is its key, and its upload's record names the bucket. @returns undefined for other keys */
  #partBody(key: string): '' | undefined {
    return readPartRecord(this.#folderOf(key), key) === undefined ? undefined : '';
  }

  /**
   * A deleted version is of no use to this bucket, but it may belong to another bucket, whose proxy could restore it.
   */
  async #lookBehind(entries: Entries): Promise<'gone' | 'foreign'> {
    for (const version of entries) {
      const body = version.versionId === undefined ? undefined : await this.#read(version, true);
      if (body !== undefined) return this.#isOwn(version.key, body) ? 'gone' : 'foreign';
    }
    return 'gone';
  }

  /** @returns undefined if there is no such object, or no such version */
  async #read(object: StateVersion, version: boolean): Promise<string | undefined> {
    const { contents, memory } = this.#services;
    const held = memory.hold('lists');
    const read = (admit: Admit) =>
      version
        ? contents.readVersion(this.#bucket, object, manifestLimit, admit)
        : contents.read(this.#bucket, object.key, manifestLimit, admit);
    try {
      return await readInTurn(read, (stored) => stored.toString(), held);
    } finally {
      held.release();
    }
  }

  /** Done records of earlier releases do not name their bucket. @returns false also for unreadable objects */
  #isOwn(key: string, body: string): boolean {
    try {
      if (key.endsWith('/done')) return readDoneRecord(body).bucket === this.#bucket;
      if (key.startsWith(this.#uploads)) return readUploadRecord(body).bucket === this.#bucket;
      if (key.startsWith(this.#rewraps)) return parseRewrapRecord(body).bucket === this.#bucket;
      const manifest = parseManifest(body);
      const { reservedPrefix } = this.#services.config;
      return (
        manifest.bucket === this.#bucket &&
        manifestKey(reservedPrefix, manifest, manifest.list.manifest) === key
      );
    } catch {
      return false;
    }
  }

  #isOpen(key: string): boolean {
    return this.#open.has(this.#folderOf(key));
  }

  /** The folder of an upload's records. */
  #folderOf(key: string): string {
    return key.slice(0, key.indexOf('/', this.#uploads.length) + 1);
  }

  #keep(key: string, body: string): void {
    if (this.kept.has(key)) return;
    this.#count(key, body);
    this.kept.set(key, body);
  }

  #count(key: string, body = ''): void {
    this.#bytes += entryCost + key.length + body.length;
    if (this.#bytes > memoryCosts.survey) throw tooMany();
  }
}

const helperPattern =
  /^(uploads\/[0-9a-f]{64}\/.+|manifests\/[0-9a-f]{64}\/[A-Za-z0-9_-]{22}|rewraps\/[0-9a-f]{64}\/[A-Za-z0-9_-]{22,64})$/;

/** Versions and delete markers of one key, newest first. */
type Entries = readonly [StateVersion, ...StateVersion[]];

function byKey(versions: readonly StateVersion[]): Iterable<Entries> {
  const found = new Map<string, [StateVersion, ...StateVersion[]]>();
  for (const version of versions) {
    const known = found.get(version.key);
    if (known === undefined) found.set(version.key, [version]);
    else known.push(version);
  }
  for (const entries of found.values()) entries.sort((one, other) => timeOf(other) - timeOf(one));
  return found.values();
}

const timeOf = ({ lastModified }: StateVersion) => lastModified?.getTime() ?? Number.POSITIVE_INFINITY;

export const tooMany = () =>
  s3Error(
    'InternalError',
    'The bucket has too many helper objects to be cleared: run svc proxy gc, and abort open uploads.',
  );
