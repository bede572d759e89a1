import { manifestKey, parseManifest, uploadPrefix } from '../../../core/envelope/records.ts';
import { parseRewrapRecord } from '../../../core/envelope/rewrap-record.ts';
import { S3Error, s3Error } from '../../../core/s3/error.ts';
import { concurrently } from '../../../runtime/lifecycle/wait.ts';
import type { OperationHandler, ProxyServices, RequestContext } from '../context.ts';
import { manifestLimit } from '../multipart/manifest-store.ts';
import { readUploadRecord } from '../multipart/upload-record.ts';
import type { StateVersion } from '../state/listings.ts';
import { refusal, type UpstreamResponse } from '../upstream/upstream.ts';
import { forward } from './pass-through.ts';

/**
 * DeleteBucket. If only helper objects keep the store from deleting a bucket, they are deleted first. The store has the
 * last word: if it refuses again, because a caller wrote something in between, helper objects that may still be needed
 * are restored.
 */
export const deleteBucket: OperationHandler = async (services, context) => {
  await context.payload.read(0);
  const response = await forward(services, context, nothing);
  if (response.status < 300) return answerGone(context, response);
  const refused = await refusal(response);
  if (refused.code !== 'BucketNotEmpty') throw refused;
  const leftovers = await findLeftovers(services, context.request.bucket).catch((error: unknown) => {
    context.log.warn('proxy.bucket.not-cleared', { error: messageOf(error) });
    return undefined;
  });
  if (leftovers === undefined) throw refused;
  await answerGone(context, await deleteCleared(services, context, leftovers, refused));
};

const writesAtOnce = 16;
const nothing = Buffer.alloc(0);

async function answerGone({ answer }: RequestContext, { body }: UpstreamResponse): Promise<void> {
  body.resume();
  answer.head(204, {});
  await answer.end();
}

async function deleteCleared(
  services: ProxyServices,
  context: RequestContext,
  leftovers: Leftovers,
  refused: S3Error,
): Promise<UpstreamResponse> {
  const { bucket } = context.request;
  try {
    await services.contents.deleteVersions(bucket, leftovers.versions);
    const response = await forward(services, context, nothing);
    if (response.status < 300) return response;
    throw await refusal(response);
  } catch (error) {
    await restore(services, context, leftovers);
    throw error instanceof S3Error && error.status < 500 ? error : refused;
  }
}

/** NoSuchBucket means that the bucket was deleted after all. */
async function restore({ contents }: ProxyServices, { request, log }: RequestContext, { kept }: Leftovers) {
  await concurrently(kept, writesAtOnce, ({ key, body }) =>
    contents.put(request.bucket, key, body).catch((error: unknown) => {
      if (error instanceof S3Error && error.code === 'NoSuchBucket') return;
      log.error('proxy.bucket.not-restored', { bucket: request.bucket, key, error: messageOf(error) });
    }),
  );
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown');

const readsAtOnce = 8;
const mostVersions = 100_000;
/** Bytes of keys and bodies kept in memory in case the bucket cannot be deleted. */
const mostKept = 8 * 1024 * 1024;
/** Milliseconds that every Complete or copy stays below: older helper objects are not needed by one in progress. */
const settledAfter = 60 * 60 * 1000;

/** Helper objects in a bucket that holds nothing else. */
interface Leftovers {
  /** All versions and delete markers, except of helper objects that disappeared during the survey. */
  readonly versions: readonly StateVersion[];
  /** Helper objects that an open or very recent upload may need again. */
  readonly kept: readonly { readonly key: string; readonly body: string }[];
}

/**
 * Helper objects that the proxy left in the bucket.
 * @returns undefined if the bucket contains anything else: objects of callers with their versions and delete markers,
 *   helper objects of other buckets (this one being a state bucket), or helper objects of an unknown kind
 * @throws S3Error if the store refuses, or there are too many helper objects
 */
async function findLeftovers(services: ProxyServices, bucket: string): Promise<Leftovers | undefined> {
  const { contents, config } = services;
  const versions: StateVersion[] = [];
  for await (const page of contents.everything(bucket)) {
    if (!page.every(({ key }) => isHelper(key, config.reservedPrefix))) return undefined;
    versions.push(...page);
    if (versions.length > mostVersions) throw tooMany();
  }
  const open = await openPrefixes(services, bucket);
  const survey = new Survey(services, bucket, open);
  await concurrently([...byKey(versions)], readsAtOnce, (entries) => survey.look(entries));
  if (survey.foreign) return undefined;
  return { versions: versions.filter((version) => !survey.hasGone(version)), kept: survey.kept };
}

const helperPattern =
  /^(uploads\/[0-9a-f]{64}\/.+|manifests\/[0-9a-f]{64}\/[A-Za-z0-9_-]{22}|rewraps\/[0-9a-f]{64}\/[A-Za-z0-9_-]{22,64})$/;

const isHelper = (key: string, reservedPrefix: string) =>
  key.startsWith(reservedPrefix) && helperPattern.test(key.slice(reservedPrefix.length));

async function openPrefixes(
  { contents, config }: ProxyServices,
  bucket: string,
): Promise<ReadonlySet<string>> {
  const prefixes = new Set<string>();
  for await (const page of contents.openUploads(bucket))
    for (const id of page) prefixes.add(uploadPrefix(config.reservedPrefix, id));
  return prefixes;
}

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

/** Finds out which objects the helper objects belong to, and whether they may be needed again. */
class Survey {
  readonly kept: { key: string; body: string }[] = [];
  foreign = false;
  readonly #services: ProxyServices;
  readonly #bucket: string;
  readonly #open: ReadonlySet<string>;
  readonly #uploads: string;
  readonly #rewraps: string;
  readonly #gone = new Set<string>();
  #bytes = 0;

  constructor(services: ProxyServices, bucket: string, open: ReadonlySet<string>) {
    this.#services = services;
    this.#bucket = bucket;
    this.#open = open;
    this.#uploads = `${services.config.reservedPrefix}uploads/`;
    this.#rewraps = `${services.config.reservedPrefix}rewraps/`;
  }

  async look(entries: Entries): Promise<void> {
    if (this.foreign) return;
    const [object] = entries;
    const { key } = object;
    const isRecord = key.startsWith(this.#uploads);
    const isMarker = isRecord && !/\/(create|done)$/.test(key);
    const body = isMarker ? '' : await this.#services.contents.get(this.#bucket, key, manifestLimit);
    if (body === undefined) {
      this.#gone.add(key);
      return this.#lookBehind(entries);
    }
    if (!isMarker && !this.#isOwn(key, body, isRecord)) this.foreign = true;
    if (Date.now() - timeOf(object) < settledAfter || this.#isOpen(key)) this.#keep(key, body);
  }

  /**
   * A deleted version is of no use to this bucket, but it may belong to another bucket, whose proxy could restore it.
   */
  async #lookBehind(entries: Entries): Promise<void> {
    for (const version of entries) {
      if (version.versionId === undefined) continue;
      const { key } = version;
      const body = await this.#services.contents.getVersion(this.#bucket, version, manifestLimit);
      if (body !== undefined && !this.#isOwn(key, body, key.startsWith(this.#uploads))) this.foreign = true;
      if (body !== undefined) return;
    }
  }

  /**
   * An unversioned object that disappeared may be written again with unknown content, so it is not deleted; versions
   * are never rewritten.
   */
  hasGone({ key, versionId }: StateVersion): boolean {
    return versionId === undefined && this.#gone.has(key);
  }

  /** Done records of earlier releases do not name their bucket. @returns false also for unreadable objects */
  #isOwn(key: string, body: string, isRecord: boolean): boolean {
    if (key.endsWith('/done')) return true;
    try {
      if (isRecord) return readUploadRecord(body).bucket === this.#bucket;
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
    return this.#open.has(key.slice(0, key.indexOf('/', this.#uploads.length) + 1));
  }

  #keep(key: string, body: string): void {
    this.kept.push({ key, body });
    this.#bytes += key.length + body.length;
    if (this.#bytes > mostKept) throw tooMany();
  }
}

const tooMany = () =>
  s3Error(
    'InternalError',
    'The bucket has too many helper objects to be cleared: run svc proxy gc, and abort open uploads.',
  );
