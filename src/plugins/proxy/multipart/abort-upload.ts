import { requestHeadersUpstream } from '../../../core/s3/headers.ts';
import type { Handler } from '../context.ts';
import { refusal } from '../upstream/refusal.ts';

/** AbortMultipartUpload: the store forgets the parts, then the records go; what fails there is left to `svc proxy gc`. */
export const abortUpload: Handler = async (context, { request, answer, signal, log, payload }) => {
  await payload.read(0);
  const name = { bucket: request.bucket, key: request.key };
  const uploadId = request.query.get('uploadId') ?? '';
  const response = await context.upstream.send({
    method: 'DELETE',
    ...name,
    query: request.query.entries,
    headers: requestHeadersUpstream(request.headers),
    signal,
  });
  if (response.status >= 300) throw await refusal(response);
  response.body.resume();
  await context.uploads.abandon(name, uploadId).catch((error: Error) => {
    log.warn('proxy.upload.records-left', { error: error.message });
  });
  answer.head(204, {});
  await answer.end();
};
