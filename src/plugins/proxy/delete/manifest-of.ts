import type { ObjectName } from '../../../core/envelope/binding.ts';
import { EnvelopeError } from '../../../core/envelope/error.ts';
import { readEnvelope } from '../../../core/envelope/metadata.ts';
import type { ProxyContext } from '../context.ts';

/**
 * The id of the manifest that goes with the object when it is deleted: undefined where
 * there is none, and where the bucket keeps the version that names it.
 */
export async function manifestOf(
  { upstream, buckets }: ProxyContext,
  name: ObjectName,
  signal: AbortSignal,
): Promise<string | undefined> {
  if ((await buckets.keepsVersions(name.bucket)) !== 'no') return undefined;
  const { status, headers, body } = await upstream.send({ method: 'HEAD', ...name, signal });
  body.resume();
  if (status !== 200) return undefined;
  try {
    const keys = readEnvelope(headers)?.keys;
    return keys?.form === 'pointer' ? keys.manifest : undefined;
  } catch (error) {
    if (error instanceof EnvelopeError) return undefined;
    throw error;
  }
}

/** After its object: what fails here is left to `svc proxy gc`. */
export async function removeManifest(context: ProxyContext, name: ObjectName, id: string): Promise<void> {
  try {
    await context.manifests.remove(name, id);
  } catch (error) {
    context.log.warn('proxy.manifest.left', { error: error instanceof Error ? error.message : 'unknown' });
  }
}
