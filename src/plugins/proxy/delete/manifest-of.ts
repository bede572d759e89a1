import type { ObjectName } from '../../../core/envelope/binding.ts';
import { EnvelopeError } from '../../../core/envelope/error.ts';
import { readEnvelope } from '../../../core/envelope/metadata.ts';
import { concurrently } from '../../../runtime/lifecycle/concurrently.ts';
import type { ProxyContext } from '../context.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';

const removalsAtOnce = 16;
/** After this time the manifest of an object that has its list in its own header is gone; milliseconds. */
const inlineGrace = 10 * 60 * 1000;

/**
 * The id of the manifest that goes with the object when it is deleted: undefined where
 * there is none, and where the bucket keeps the version that names it.
 */
export async function manifestOf(
  { upstream, buckets }: ProxyContext,
  name: ObjectName,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if ((await buckets.keepsVersions(name.bucket)) !== 'no') return undefined;
  const { status, headers, body } = await upstream.send({
    method: 'HEAD',
    ...name,
    ...(signal && { signal }),
  });
  body.resume();
  return status === 200 ? manifestIn(headers) : undefined;
}

/** The same before an object is replaced. It costs a request only where there are manifests; none that fails is missed. */
export async function manifestToReplace(
  context: ProxyContext,
  name: ObjectName,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await context.manifests.mayExist(name.bucket))
      ? await manifestOf(context, name, signal)
      : undefined;
  } catch {
    // What is wrong with the store is told by the write itself
    return undefined;
  }
}

interface Named {
  readonly key: string;
  readonly id: string | undefined;
}

/** To be called after its object has gone or was replaced: what fails here is left to `svc proxy gc`. */
export const removeManifest = (context: ProxyContext, { bucket, key }: ObjectName, id: string | undefined) =>
  removeManifests(context, bucket, [{ key, id }]);

/** The same for objects of one bucket. */
export async function removeManifests(
  context: ProxyContext,
  bucket: string,
  named: readonly Named[],
): Promise<void> {
  const wanted = named.filter(({ id }) => id !== undefined);
  if (wanted.length === 0) return;
  try {
    // Versioning may have been turned on since: then the versions that name them are still there
    if ((await context.buckets.keepsVersionsNow(bucket)) !== 'no') return;
    await concurrently(wanted, removalsAtOnce, ({ key, id = '' }) =>
      context.manifests.remove({ bucket, key }, id),
    );
  } catch (error) {
    context.log.warn('proxy.manifest.left', { error: error instanceof Error ? error.message : 'unknown' });
  }
}

function manifestIn(headers: UpstreamResponse['headers']): string | undefined {
  try {
    const keys = readEnvelope(headers)?.keys;
    if (keys?.form === 'pointer') return keys.manifest;
    return keys?.form === 'inline' && isYoung(headers['last-modified']) ? keys.list.manifest : undefined;
  } catch (error) {
    if (error instanceof EnvelopeError) return undefined;
    throw error;
  }
}

/** Also where the store does not say. */
const isYoung = (modified: string | undefined) => !(Date.now() - Date.parse(modified ?? '') > inlineGrace);
