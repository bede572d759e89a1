import { isDigest } from './digest.ts';
import { ImageError } from './image-error.ts';
import { type IndexEntry, readIndexEntries } from './index-entry.ts';
import { type JsonObject, readJsonObject, textOf } from './json.ts';

/** What a reference leads to: one image, or one for each of several platforms. */
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

/** Its digest is not that of its bytes, so it is told by its type. @throws ImageError where it is of that kind */
export function refuseOldSchema(contentType: string): void {
  if (contentType.startsWith('application/vnd.docker.distribution.manifest.v1')) throw oldSchema();
}

/**
 * Reads a manifest of OCI or Docker.
 * Source: https://github.com/opencontainers/image-spec (manifest.md, image-index.md)
 * @param contentType that the registry gave; what the manifest says of itself wins
 * @throws ImageError when it is of no image, or can be taken for two things
 */
export function readManifest(bytes: Uint8Array, contentType: string): Manifest {
  const manifest = readJsonObject(bytes, 'the manifest');
  if (manifest['schemaVersion'] !== 2 || 'fsLayers' in manifest) throw oldSchema();
  const type = textOf(manifest['mediaType']) ?? contentType.split(';')[0]?.trim() ?? '';
  if (isOneOf(manifestTypes.index, type)) return index(manifest);
  if (isOneOf(manifestTypes.image, type)) return image(manifest);
  throw new ImageError(`its manifest has the media type ${shown(type)}, which is of no image`);
}

/** A manifest that is both could be taken for one thing here and for the other on the node. */
function index(manifest: JsonObject): Manifest {
  if ('config' in manifest || 'layers' in manifest)
    throw new ImageError('its index has members of a manifest beside its own');
  return { kind: 'index', entries: readIndexEntries(manifest['manifests']) };
}

function image(manifest: JsonObject): Manifest {
  if ('manifests' in manifest) throw new ImageError('its manifest has members of an index beside its own');
  const { mediaType, digest } = (manifest['config'] ?? {}) as JsonObject;
  const config = textOf(digest) ?? '';
  if (!isDigest(config)) throw new ImageError('its manifest names no configuration');
  if (!configTypes.includes(textOf(mediaType) ?? ''))
    throw new ImageError(`it is no container image: its configuration is ${shown(textOf(mediaType) ?? '')}`);
  return { kind: 'image', config };
}

function oldSchema(): ImageError {
  return new ImageError('its manifest has the schema of Docker before 1.10, which is not read: push it anew');
}

function isOneOf(types: readonly string[], type: string): boolean {
  return types.includes(type);
}

/** Text of a stranger in a message. */
function shown(type: string): string {
  return /^[\w.+/-]{1,100}$/.test(type) ? type : 'unknown';
}
