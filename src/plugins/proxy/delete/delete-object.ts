import { responseHeadersDownstream } from '../../../core/s3/headers.ts';
import type { Handler } from '../context.ts';
import { forward } from '../passthrough/pass-through.ts';
import { refusal } from '../upstream/refusal.ts';
import { manifestOf, removeManifest } from './manifest-of.ts';

/** DeleteObject; a multipart object's part list goes after it. */
export const deleteObject: Handler = async (context, exchange) => {
  const { request, payload, signal, answer } = exchange;
  const body = await payload.read(0);
  const name = { bucket: request.bucket, key: request.key };
  const manifest = request.query.has('versionId') ? undefined : await manifestOf(context, name, signal);
  const response = await forward(context, exchange, body);
  if (response.status >= 300) throw await refusal(response);
  response.body.resume();
  await removeManifest(context, name, manifest);
  answer.head(204, responseHeadersDownstream(response.headers));
  await answer.end();
};
