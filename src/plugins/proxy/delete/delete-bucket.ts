import { S3Error } from '../../../core/s3/error.ts';
import { concurrently } from '../../../runtime/lifecycle/concurrently.ts';
import type { Exchange, Handler, ProxyContext } from '../context.ts';
import { forward } from '../passthrough/pass-through.ts';
import { refusal } from '../upstream/refusal.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import { findLeftovers, type Leftovers } from './leftovers.ts';

/**
 * DeleteBucket. Where nothing but helper objects keeps the store from it, they go first. The store stays the judge:
 * when it refuses again, because a caller wrote something in between, what that may need is put back.
 */
export const deleteBucket: Handler = async (context, exchange) => {
  await exchange.payload.read(0);
  const response = await forward(context, exchange, nothing);
  if (response.status < 300) return answerGone(exchange, response);
  const refused = await refusal(response);
  if (refused.code !== 'BucketNotEmpty') throw refused;
  const leftovers = await findLeftovers(context, exchange.request.bucket).catch((error: unknown) => {
    exchange.log.warn('proxy.bucket.not-cleared', { error: messageOf(error) });
    return undefined;
  });
  if (leftovers === undefined) throw refused;
  await answerGone(exchange, await deleteCleared(context, exchange, leftovers, refused));
};

const writesAtOnce = 16;
const nothing = Buffer.alloc(0);

async function answerGone({ answer }: Exchange, { body }: UpstreamResponse): Promise<void> {
  body.resume();
  answer.head(204, {});
  await answer.end();
}

async function deleteCleared(
  context: ProxyContext,
  exchange: Exchange,
  leftovers: Leftovers,
  refused: S3Error,
): Promise<UpstreamResponse> {
  const { bucket } = exchange.request;
  try {
    await context.contents.deleteVersions(bucket, leftovers.versions);
    const response = await forward(context, exchange, nothing);
    if (response.status < 300) return response;
    throw await refusal(response);
  } catch (error) {
    await restore(context, exchange, leftovers);
    throw error instanceof S3Error && error.status < 500 ? error : refused;
  }
}

/** A store that says that there is no such bucket has deleted it all the same. */
async function restore({ contents }: ProxyContext, { request, log }: Exchange, { kept }: Leftovers) {
  await concurrently(kept, writesAtOnce, ({ key, body }) =>
    contents.put(request.bucket, key, body).catch((error: unknown) => {
      if (error instanceof S3Error && error.code === 'NoSuchBucket') return;
      log.error('proxy.bucket.not-restored', { bucket: request.bucket, key, error: messageOf(error) });
    }),
  );
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown');
