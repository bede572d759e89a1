import { isDigest } from './digest.ts';
import { ImageError } from './image-error.ts';
import { isJsonObject, type JsonObject, textOf } from './json.ts';

/** One image of an index. */
export interface IndexEntry {
  readonly digest: string;
  readonly mediaType: string;
  /** Undefined where the index does not say. */
  readonly platform: Platform | undefined;
}

export interface Platform {
  /** `linux`. */
  readonly os: string;
  /** As Go names it: `amd64`, `arm64`. */
  readonly architecture: string;
}

/** The images of an index; attestations, which stand beside them, are left out. @throws ImageError */
export function readIndexEntries(manifests: unknown): IndexEntry[] {
  if (!Array.isArray(manifests)) throw new ImageError('its index has no list of manifests');
  return manifests.map(objectOf).filter(isImage).map(readEntry);
}

function objectOf(entry: unknown): JsonObject {
  if (!isJsonObject(entry)) throw new ImageError('its index has an entry that is no object');
  return entry;
}

/** BuildKit's attestations are manifests of an unknown platform; other kinds name what they are an artifact of. */
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
