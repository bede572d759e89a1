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
 * DeleteBucket. Where nothing but helper objects keeps the store from it, they go first. The store stays the judge:
 * when it refuses again, because a caller wrote something in between, what that may need is put back.
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

/** A store that says that there is no such bucket has deleted it all the same. */
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
/** What is kept in memory for the case that the bucket cannot be deleted; bytes of keys and bodies. */
const mostKept = 8 * 1024 * 1024;
/** No Complete and no copy takes longer, in milliseconds: of what is older none still needs a manifest. */
const settledAfter = 60 * 60 * 1000;

/** Helper objects in a bucket that holds nothing else. */
interface Leftovers {
  /** All of them, with all their versions and delete markers, but those that went while they were looked at. */
  readonly versions: readonly StateVersion[];
  /** Those that an upload which is open, or was a moment ago, may need again. */
  readonly kept: readonly { readonly key: string; readonly body: string }[];
}

/**
 * What the proxy left behind in the bucket.
 * @returns undefined when anything else is there: objects of callers, versions and delete markers of such,
 *   helper objects of other buckets, for which this one is a state bucket, or any of an unknown kind.
 * @throws S3Error when the store refuses, or there is too much of it
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

/** Versions and delete markers of one key, the youngest first. */
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

/** Which objects the helper objects belong to, and whether they may be needed again. */
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

  /** What a delete marker hides nobody needs here, but it may be of another bucket, whose proxy can get it back. */
  async #lookBehind(entries: Entries): Promise<void> {
    for (const version of entries) {
      if (version.versionId === undefined) continue;
      const { key } = version;
      const body = await this.#services.contents.getVersion(this.#bucket, version, manifestLimit);
      if (body !== undefined && !this.#isOwn(key, body, key.startsWith(this.#uploads))) this.foreign = true;
      if (body !== undefined) return;
    }
  }

  /** Whoever took it away may put it back, and nobody here knows what it was. Versions are never written again. */
  hasGone({ key, versionId }: StateVersion): boolean {
    return versionId === undefined && this.#gone.has(key);
  }

  /** A done record of earlier releases does not say whose it is. @returns false also for what cannot be read */
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
