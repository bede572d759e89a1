import { choosePlatforms } from '../../core/image/choose-platform.ts';
import { digestOf, isDigest, verifyDigest } from '../../core/image/digest.ts';
import { isSameCommand, readImageConfig } from '../../core/image/image-config.ts';
import { ImageError } from '../../core/image/image-error.ts';
import type { IndexEntry } from '../../core/image/index-entry.ts';
import { type Manifest, manifestTypes, readManifest, refuseOldSchema } from '../../core/image/manifest.ts';
import type { ImageReference } from '../../core/image/reference.ts';
import type { ImageCommand } from '../../core/injection/contract.ts';
import { RegistryError } from './errors.ts';
import type { RegistrySession } from './session.ts';
import type { WireAnswer } from './wire.ts';

/** Ten times what large images have, and little enough for a container of 128 MiB that reads some at a time. */
const largest = 1024 * 1024;
const accept = [...manifestTypes.index, ...manifestTypes.image].join(', ');

export interface FoundImage {
  /** Of the manifest or index that the reference names. */
  readonly digest: string;
  readonly command: ImageCommand;
}

export interface ReadImageOptions {
  /** Of the node that the pod must get; undefined: any. */
  readonly architecture: string | undefined;
  /** What is known of a digest already. */
  known(digest: string): ImageCommand | undefined;
}

/**
 * What an image runs. Whatever is named by a digest is what the digest says, or refused.
 * @throws RegistryError
 */
export async function readImage(
  session: RegistrySession,
  { tag, digest: wanted }: ImageReference,
  { architecture, known }: ReadImageOptions,
): Promise<FoundImage> {
  const digest = wanted ?? (await digestOfTag(session, tag ?? 'latest'));
  const command = known(digest) ?? (await readCommand(session, digest, architecture));
  return { digest, command };
}

/** Asking for the head alone is not counted as a pull by registries that count. */
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

/** Several images can only be taken for one where they all run the same. */
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
  throw new ImageError('its index holds another index');
}

async function manifestOf(session: RegistrySession, digest: string): Promise<Manifest> {
  const answer = await fetchVerified(session, `manifests/${digest}`, digest);
  return readManifest(answer.body, answer.headers['content-type'] ?? '');
}

async function configOf(session: RegistrySession, digest: string): Promise<ImageCommand> {
  return readImageConfig((await fetchVerified(session, `blobs/${digest}`, digest)).body);
}

async function fetchVerified(session: RegistrySession, path: string, digest: string): Promise<WireAnswer> {
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
