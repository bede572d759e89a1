import type { ObjectServices } from '../context.ts';
import type { ObjectName } from '../format/metadata.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import { manifestIn } from './manifest-store.ts';

/** What is at the key of an upload before the store's Complete. */
export interface ReplacedObject {
  /** Undefined if it is not known: the bucket keeps versions, whose ids tell more, or the store did not say. */
  readonly identity: string | undefined;
  /** The id of the manifest to delete once the object is replaced. */
  readonly manifest: string | undefined;
}

/** The identity of an object that is not there. */
export const noObject = 'none';

/**
 * Differs between any two objects of a key: of two with one ETag, as empty ones have it, the envelopes differ.
 * @returns undefined if the store does not tell
 */
export function identityOf({ status, headers }: Pick<UpstreamResponse, 'status' | 'headers'>) {
  if (status === 404) return noObject;
  if (status !== 200) return undefined;
  const telling = Object.entries(headers).filter(([name]) => tells.test(name));
  return JSON.stringify(telling.sort(([one], [other]) => (one < other ? -1 : 1)));
}

const tells = /^(etag|last-modified|x-amz-version-id|x-amz-meta-.*)$/;

/** One HEAD, and none if the bucket keeps versions. A failure counts as nothing known. */
export async function objectToReplace(
  { buckets, upstream }: Pick<ObjectServices, 'buckets' | 'upstream'>,
  { bucket, key }: ObjectName,
): Promise<ReplacedObject> {
  try {
    const keepsVersions = await buckets.keepsVersions(bucket);
    if (keepsVersions === 'yes') return nothingKnown;
    const response = await upstream.send({ method: 'HEAD', bucket, key });
    response.body.resume();
    const manifest =
      keepsVersions === 'no' && response.status === 200 ? manifestIn(response.headers) : undefined;
    return { identity: identityOf(response), manifest };
  } catch {
    // the Complete itself reports failures of the store
    return nothingKnown;
  }
}

const nothingKnown: ReplacedObject = { identity: undefined, manifest: undefined };
