import type { ObjectName } from '../../../core/envelope/binding.ts';
import { requestHeadersUpstream } from '../../../core/s3/headers.ts';
import type { Handler, ProxyContext } from '../context.ts';
import { removeManifest } from '../delete/manifest-of.ts';
import { refusal } from '../upstream/refusal.ts';
import { completedObject } from './complete-once.ts';
import type { UploadRecord } from './upload-record.ts';

/** AbortMultipartUpload: the store forgets the parts, then the records go; what fails there is left to `svc proxy gc`. */
export const abortUpload: Handler = async (context, { request, answer, signal, log, payload }) => {
  await payload.read(0);
  const name = { bucket: request.bucket, key: request.key };
  const uploadId = request.query.get('uploadId') ?? '';
  const record = await context.uploads.find(name, uploadId).catch(() => undefined);
  const response = await context.upstream.send({
    method: 'DELETE',
    ...name,
    query: request.query.entries,
    headers: requestHeadersUpstream(request.headers),
    signal,
  });
  if (response.status >= 300) throw await refusal(response);
  response.body.resume();
  await forget(context, name, uploadId, record).catch((error: Error) => {
    log.warn('proxy.upload.records-left', { error: error.message });
  });
  answer.head(204, {});
  await answer.end();
};

/** A Complete that failed may have left a manifest. Stores may let a completed upload be aborted too. */
async function forget(
  context: ProxyContext,
  name: ObjectName,
  uploadId: string,
  record: UploadRecord | undefined,
): Promise<void> {
  await context.uploads.abandon(name, uploadId);
  if (record === undefined || (await context.manifests.find(name, record.manifest)) === undefined) return;
  if ((await completedObject(context, record)) === undefined)
    await removeManifest(context, name, record.manifest);
}
