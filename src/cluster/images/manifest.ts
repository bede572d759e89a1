import { parseBounded } from '../../runtime/bounds/bounded-json.ts';
import type { ImageCommand } from '../injection/contract.ts';
import { ImageError, isDigest } from './reference.ts';

/** The target of a reference: one image, or one for each of several platforms. */
export type Manifest =
  | { readonly kind: 'image'; readonly config: string }
  | { readonly kind: 'index'; readonly entries: readonly IndexEntry[] };

export const manifestTypes = {
  index: [
    'application/vnd.oci.image.index.v1+json',
    'application/vnd.docker.distribution.manifest.list.v2+json',
  ],
  image: [
    'application/vnd.oci.image.manifest.v1+json',
    'application/vnd.docker.distribution.manifest.v2+json',
  ],
} as const;

const configTypes = [
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.docker.container.image.v1+json',
];

/** Its digest is not that of its bytes, so it is recognized by its type. @throws ImageError for that type */
export function refuseOldSchema(contentType: string): void {
  if (contentType.startsWith('application/vnd.docker.distribution.manifest.v1')) throw oldSchema();
}

/**
 * Reads an OCI or Docker manifest.
 * Source: https://github.com/opencontainers/image-spec (manifest.md, image-index.md)
 * @param contentType from the registry; a type in the manifest itself takes precedence
 * @throws ImageError if the manifest is not an image's, or is ambiguous
 */
export function readManifest(bytes: Uint8Array, contentType: string): Manifest {
  const manifest = readJsonObject(bytes, 'the manifest');
  if (manifest['schemaVersion'] !== 2 || 'fsLayers' in manifest) throw oldSchema();
  const type = textOf(manifest['mediaType']) ?? contentType.split(';')[0]?.trim() ?? '';
  if (isOneOf(manifestTypes.index, type)) return index(manifest);
  if (isOneOf(manifestTypes.image, type)) return image(manifest);
  throw new ImageError(`its manifest has the media type ${shown(type)}, which is not of an image`);
}

/** A manifest that is both could be interpreted differently here and on the node. */
function index(manifest: JsonObject): Manifest {
  if ('config' in manifest || 'layers' in manifest)
    throw new ImageError('its index also has members of a manifest');
  return { kind: 'index', entries: readIndexEntries(manifest['manifests']) };
}

function image(manifest: JsonObject): Manifest {
  if ('manifests' in manifest) throw new ImageError('its manifest also has members of an index');
  const { mediaType, digest } = (manifest['config'] ?? {}) as JsonObject;
  const config = textOf(digest) ?? '';
  if (!isDigest(config)) throw new ImageError('its manifest names no configuration');
  if (!configTypes.includes(textOf(mediaType) ?? ''))
    throw new ImageError(
      `it is not a container image: its configuration is ${shown(textOf(mediaType) ?? '')}`,
    );
  return { kind: 'image', config };
}

function oldSchema(): ImageError {
  return new ImageError(
    'its manifest has the schema of Docker before 1.10, which is not read: push it again',
  );
}

function isOneOf(types: readonly string[], type: string): boolean {
  return types.includes(type);
}

/** Makes foreign text safe for a message. */
function shown(type: string): string {
  return /^[\w.+/-]{1,100}$/.test(type) ? type : 'unknown';
}

/** One image of an index. */
export interface IndexEntry {
  readonly digest: string;
  readonly mediaType: string;
  /** Undefined if the index does not specify one. */
  readonly platform: Platform | undefined;
}

export interface Platform {
  /** `linux`. */
  readonly os: string;
  /** Go's name: `amd64`, `arm64`. */
  readonly architecture: string;
}

/** The images of an index, without the attestations beside them. @throws ImageError */
function readIndexEntries(manifests: unknown): IndexEntry[] {
  if (!Array.isArray(manifests)) throw new ImageError('its index has no list of manifests');
  return manifests.map(objectOf).filter(isImage).map(readEntry);
}

function objectOf(entry: unknown): JsonObject {
  if (!isJsonObject(entry)) throw new ImageError('its index has an entry that is not an object');
  return entry;
}

/** BuildKit's attestations are manifests of an unknown platform; other kinds name the type of artifact. */
function isImage({ annotations, platform, artifactType }: JsonObject): boolean {
  const isReference = isJsonObject(annotations) && 'vnd.docker.reference.type' in annotations;
  return (
    !isReference && artifactType === undefined && (!isJsonObject(platform) || platform['os'] !== 'unknown')
  );
}

function readEntry({ digest, mediaType, platform }: JsonObject): IndexEntry {
  const name = textOf(digest) ?? '';
  if (!isDigest(name)) throw new ImageError('its index has an entry without a digest');
  return { digest: name, mediaType: textOf(mediaType) ?? '', platform: readPlatform(platform) };
}

function readPlatform(platform: unknown): Platform | undefined {
  if (!isJsonObject(platform)) return undefined;
  return { os: textOf(platform['os']) ?? '', architecture: textOf(platform['architecture']) ?? '' };
}

/** Bytes in total; a pod could be given more, but what is cached for many images must stay small. */
const longestCommand = 32 * 1024;
/** Far more than any image has. */
const maxWords = 1_000;
const longestUser = 256;

/**
 * What an image runs, according to its configuration.
 * Source: https://github.com/opencontainers/image-spec (config.md)
 * @throws ImageError if it is not for Linux, or specifies nothing to run
 */
export function readImageConfig(bytes: Uint8Array): ImageCommand {
  const document = readJsonObject(bytes, 'its configuration');
  const os = textOf(document['os']) ?? '';
  if (os !== '' && os !== 'linux') throw new ImageError('it is not for Linux');
  const config = document['config'] ?? {};
  if (!isJsonObject(config)) throw new ImageError('its configuration is not that of an image');
  const command = { entrypoint: words(config, 'Entrypoint'), cmd: words(config, 'Cmd'), user: user(config) };
  const count = command.entrypoint.length + command.cmd.length;
  if (count > maxWords) throw new ImageError(`its command has ${count} words, and may have ${maxWords}`);
  const size = [...command.entrypoint, ...command.cmd].reduce(
    (sum, word) => sum + Buffer.byteLength(word) + 1,
    0,
  );
  if (size > longestCommand) throw new ImageError(`its command has more than ${longestCommand} bytes`);
  return command;
}

/** What a word takes beside its text. */
const bytesOfWord = 40;

/** What a command takes in memory, about. */
export function memoryOfCommand({ entrypoint, cmd, user }: ImageCommand): number {
  return [...entrypoint, ...cmd, user].reduce((sum, word) => sum + 2 * word.length + bytesOfWord, 0);
}

/** Whether two images run the same command in the same way. */
export function isSameCommand(a: ImageCommand, b: ImageCommand): boolean {
  return a.user === b.user && isSameList(a.entrypoint, b.entrypoint) && isSameList(a.cmd, b.cmd);
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index]);
}

function words(config: JsonObject, name: string): readonly string[] {
  const value = config[name] ?? [];
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string' && !word.includes('\0')))
    throw new ImageError(`${name} of its configuration is not a list of arguments`);
  return value;
}

function user(config: JsonObject): string {
  const value = config['User'] ?? '';
  if (typeof value !== 'string' || value.length > longestUser || /\p{Cc}/u.test(value))
    throw new ImageError('User of its configuration is not a user');
  return value;
}

/** Platforms of Kubernetes nodes; other images of an index never run. */
const ofNodes = ['amd64', 'arm64', 'ppc64le', 's390x'];
/** Maximum number of candidates, including variants, since each takes a request. */
const most = 8;

/**
 * The images of an index that the pod could run, the likeliest first; at least one.
 * @param architecture of the pod's node; undefined: any
 * @throws ImageError if there is none, or too many to inspect
 */
export function choosePlatforms(
  entries: readonly IndexEntry[],
  architecture: string | undefined,
): readonly IndexEntry[] {
  const linux = entries.filter(({ platform }) => platform?.os === 'linux');
  const chosen = architecture === undefined ? likely(linux) : linux.filter((each) => is(each, architecture));
  const found = chosen.length > 0 ? chosen : entries.filter(({ platform }) => platform === undefined);
  const different = [...new Map(found.map((each) => [each.digest, each])).values()];
  if (different.length === 0) throw new ImageError(nothingFor(architecture, linux));
  if (different.length > most)
    throw new ImageError(
      `its index has ${different.length} images that could run, and at most ${most} are examined`,
    );
  return different;
}

function likely(linux: readonly IndexEntry[]): readonly IndexEntry[] {
  const runnable = ofNodes.flatMap((architecture) => linux.filter((each) => is(each, architecture)));
  return runnable.length > 0 ? runnable : linux;
}

function is({ platform }: IndexEntry, architecture: string): boolean {
  return platform?.architecture === architecture;
}

function nothingFor(architecture: string | undefined, linux: readonly IndexEntry[]): string {
  const there = [...new Set(linux.map(({ platform }) => platform?.architecture ?? ''))]
    .filter((name) => /^\w{1,20}$/.test(name))
    .slice(0, 12);
  const offer = there.length === 0 ? 'none for Linux' : `those for ${there.join(', ')}`;
  return `its index has no image for linux/${architecture ?? 'any'}, but ${offer}`;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** @throws ImageError unless the bytes are a JSON object */
function readJsonObject(bytes: Uint8Array, what: string): JsonObject {
  const value = parse(bytes, what);
  if (!isJsonObject(value)) throw new ImageError(`${what} is not a JSON object`);
  return value;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Values and names. An index of 100 platforms with attestations has 5,000; up to eight are examined at a time. */
const maxParts = 20_000;

function parse(bytes: Uint8Array, what: string): unknown {
  try {
    return parseBounded(new TextDecoder('utf-8', { fatal: true }).decode(bytes), { maxParts });
  } catch (cause) {
    throw new ImageError(`${what} is no JSON`, { cause });
  }
}
