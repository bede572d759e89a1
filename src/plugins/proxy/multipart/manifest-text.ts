import type { ObjectName } from '../../../core/envelope/binding.ts';
import { EnvelopeError } from '../../../core/envelope/error.ts';
import { type PartList, readPartList, serializePartList } from '../../../core/envelope/manifest.ts';

/** The manifest object: both names of its object, so that what it belongs to can be told from it alone. */
export const manifestText = ({ bucket, key }: ObjectName, list: PartList): string =>
  `{"v":1,"bucket":${JSON.stringify(bucket)},"key":${JSON.stringify(key)},"list":${serializePartList(list)}}`;

export interface ManifestOf extends ObjectName {
  readonly list: PartList;
}

/** @throws EnvelopeError `malformed-metadata`. */
export function parseManifest(text: string): ManifestOf {
  let value: { v?: unknown; bucket?: unknown; key?: unknown; list?: unknown } | null;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new EnvelopeError('malformed-metadata', 'a manifest is not JSON', { cause });
  }
  if (value?.v !== 1 || typeof value.bucket !== 'string' || typeof value.key !== 'string')
    throw new EnvelopeError('malformed-metadata', 'a manifest does not have the form that svc writes');
  return { bucket: value.bucket, key: value.key, list: readPartList(value.list) };
}

/** @throws EnvelopeError `manifest-forged` when the manifest belongs to another object. */
export function readManifest(text: string, name: ObjectName): PartList {
  const manifest = parseManifest(text);
  if (manifest.bucket !== name.bucket || manifest.key !== name.key)
    throw new EnvelopeError('manifest-forged', 'the manifest belongs to another object');
  return manifest.list;
}
