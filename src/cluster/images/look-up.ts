import type { ImageCommand } from '../injection/contract.ts';
import type { Access, RegistryEndpoint } from './endpoint.ts';
import {
  choosePlatforms,
  type IndexEntry,
  isSameCommand,
  type Manifest,
  manifestTypes,
  readImageConfig,
  readManifest,
  refuseOldSchema,
} from './manifest.ts';
import { digestOf, ImageError, type ImageReference, isDigest, verifyDigest } from './reference.ts';
import {
  hasCode,
  RegistryError,
  type RegistryHttpClient,
  type RegistryHttpResponse,
} from './registry-http-client.ts';
import { openSession, type RegistrySession } from './session.ts';

export interface LookUpOptions {
  readonly client: RegistryHttpClient;
  /** Architecture of the pod's node; undefined: any. */
  readonly architecture: string | undefined;
  /** A command already known for a digest by this access. */
  known(access: Access, digest: string): ImageCommand | undefined;
  /** Total time; each place gets a share of the remaining time. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** An image, and the access that found it. */
export interface FoundBy extends FoundImage {
  readonly access: Access;
}

/**
 * Looks an image up by one access after another.
 * @param accesses in the order to try, grouped by place; at least one
 * @throws RegistryError of the last place; the signal's reason when aborted
 */
export async function lookUp(
  reference: ImageReference,
  accesses: readonly Access[],
  options: LookUpOptions,
): Promise<FoundBy> {
  const end = performance.now() + options.timeoutMs;
  const places = placesOf(accesses);
  let failure: unknown;
  for (const [index, [endpoint, ways]] of places.entries()) {
    const share = (end - performance.now()) / (places.length - index);
    try {
      return await within(share, endpoint, options.signal, (signal) =>
        atPlace(reference, ways, { ...options, signal }),
      );
    } catch (error) {
      options.signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

function placesOf(accesses: readonly Access[]): (readonly [RegistryEndpoint, Access[]])[] {
  const places = new Map<RegistryEndpoint, Access[]>();
  for (const access of accesses) {
    const ways = places.get(access.endpoint);
    if (ways === undefined) places.set(access.endpoint, [access]);
    else ways.push(access);
  }
  return [...places];
}

/** Some registries hide images that a user may not read, so a missing image is also looked up as other users. */
async function atPlace(
  reference: ImageReference,
  ways: readonly Access[],
  options: LookUpOptions,
): Promise<FoundBy> {
  const failures: RegistryError[] = [];
  for (const access of ways) {
    try {
      return await bySession(reference, access, options);
    } catch (error) {
      if (!hasCode(error, 'REGISTRY_DENIED', 'REGISTRY_MISSING')) throw error;
      failures.push(error);
    }
  }
  throw failures.find((failure) => failure.code === 'REGISTRY_MISSING') ?? failures.at(0);
}

async function bySession(
  reference: ImageReference,
  access: Access,
  { client, signal, architecture, known }: LookUpOptions,
): Promise<FoundBy> {
  const session = openSession({ client, signal, ...access });
  try {
    const found = await readImage(session, reference, {
      architecture,
      known: (digest) => known(access, digest),
    });
    return { ...found, access };
  } finally {
    session.close();
  }
}

async function within<T>(
  timeoutMs: number,
  { origin }: RegistryEndpoint,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const message = `${origin.host} does not answer in time`;
  const abort = () => late.abort(new RegistryError('REGISTRY_UNAVAILABLE', message));
  const timer = setTimeout(abort, Math.max(0, timeoutMs));
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** Ten times the size for large images, but small enough for a 128 MiB container that reads several at a time. */
const largest = 1024 * 1024;
const accept = [...manifestTypes.index, ...manifestTypes.image].join(', ');

interface FoundImage {
  /** Digest of the manifest or index that the reference names. */
  readonly digest: string;
  readonly command: ImageCommand;
}

export interface ReadImageOptions {
  /** Architecture of the pod's node; undefined: any. */
  readonly architecture: string | undefined;
  /** A command already known for a digest. */
  known(digest: string): ImageCommand | undefined;
}

/**
 * Reads the command of an image. Content that does not match its digest is rejected.
 * @throws RegistryError
 */
async function readImage(
  session: RegistrySession,
  { tag, digest: wanted }: ImageReference,
  { architecture, known }: ReadImageOptions,
): Promise<FoundImage> {
  const digest = wanted ?? (await digestOfTag(session, tag ?? 'latest'));
  const command = known(digest) ?? (await readCommand(session, digest, architecture));
  return { digest, command };
}

/** HEAD requests do not count towards the registries' pull limits. */
async function digestOfTag(session: RegistrySession, tag: string): Promise<string> {
  const path = `manifests/${tag}`;
  const head = await session.request({ method: 'HEAD', path, accept, maxBytes: 0 });
  const digest = head.headers['docker-content-digest'];
  if (typeof digest === 'string' && isDigest(digest)) return digest;
  return digestOf((await session.request({ path, accept, maxBytes: largest })).body);
}

async function readCommand(
  session: RegistrySession,
  digest: string,
  architecture: string | undefined,
): Promise<ImageCommand> {
  return await usable(session, async () => {
    const manifest = await manifestOf(session, digest);
    if (manifest.kind === 'image') return await configOf(session, manifest.config);
    return await commonCommand(session, choosePlatforms(manifest.entries, architecture));
  });
}

/** Several images count as one only if all run the same command. */
async function commonCommand(
  session: RegistrySession,
  entries: readonly IndexEntry[],
): Promise<ImageCommand> {
  const configs = new Set(await Promise.all(entries.map((entry) => configDigest(session, entry))));
  const [first, ...others] = await Promise.all([...configs].map((digest) => configOf(session, digest)));
  if (first !== undefined && others.every((other) => isSameCommand(other, first))) return first;
  const names = entries.map(({ platform }) => platform?.architecture ?? 'unknown').join(', ');
  throw new RegistryError('REGISTRY_REFUSED', `its images for ${names} run different commands`, {
    nextStep: 'Give the pod a nodeSelector with kubernetes.io/arch, or the annotation svc/command.',
    told: session.isRegistry,
  });
}

async function configDigest(session: RegistrySession, { digest }: IndexEntry): Promise<string> {
  const manifest = await manifestOf(session, digest);
  if (manifest.kind === 'image') return manifest.config;
  throw new ImageError('its index contains another index');
}

async function manifestOf(session: RegistrySession, digest: string): Promise<Manifest> {
  const answer = await fetchVerified(session, `manifests/${digest}`, digest);
  return readManifest(answer.body, answer.headers['content-type'] ?? '');
}

async function configOf(session: RegistrySession, digest: string): Promise<ImageCommand> {
  return readImageConfig((await fetchVerified(session, `blobs/${digest}`, digest)).body);
}

async function fetchVerified(
  session: RegistrySession,
  path: string,
  digest: string,
): Promise<RegistryHttpResponse> {
  const answer = await session.request({
    path,
    accept: path.startsWith('blobs') ? '*/*' : accept,
    maxBytes: largest,
  });
  refuseOldSchema(answer.headers['content-type'] ?? '');
  verifyDigest(answer.body, digest);
  return answer;
}

async function usable<T>(session: RegistrySession, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof ImageError)) throw cause;
    throw new RegistryError('REGISTRY_REFUSED', `${session.endpoint.origin.host}: ${cause.message}`, {
      ...{ cause, told: session.isRegistry },
    });
  }
}
