import type { ObjectServices, OperationHandler, RequestContext } from '../../../objects/context.ts';
import { memoryCosts } from '../../../objects/held-memory.ts';
import { S3Error } from '../../../objects/s3/error.ts';
import { refusal, type UpstreamResponse } from '../../../objects/upstream/upstream.ts';
import { concurrently } from '../../../runtime/lifecycle/wait.ts';
import { BucketSurvey, tooMany } from './bucket-survey.ts';
import { forward } from './pass-through.ts';

/**
 * DeleteBucket. If only helper objects keep the store from deleting a bucket, they are deleted first. The store has the
 * last word: if it refuses again, because a caller wrote something in between, helper objects that may still be needed
 * are restored.
 */
export const deleteBucket: OperationHandler = async (services, context) => {
  await context.payload.read(0);
  const response = await forward(services, context, nothing);
  if (response.status < 300) return answerGone(context, response);
  const refused = await refusal(response);
  if (refused.code !== 'BucketNotEmpty') throw refused;
  await context.memory.of('surveys').take(memoryCosts.survey);
  const survey = await surveyed(services, context);
  if (survey === undefined) throw refused;
  await answerGone(context, await deleteCleared(services, context, survey, refused));
};

const maxVersions = 100_000;
const writesAtOnce = 16;
const nothing = Buffer.alloc(0);

async function answerGone({ answer }: RequestContext, { body }: UpstreamResponse): Promise<void> {
  body.resume();
  answer.head(204, {});
  await answer.end();
}

/** @returns undefined if the bucket holds anything besides its own helper objects, or too many of them */
async function surveyed(
  services: ObjectServices,
  { request: { bucket }, log }: RequestContext,
): Promise<BucketSurvey | undefined> {
  try {
    const survey = await BucketSurvey.begin(services, bucket);
    let versions = 0;
    for await (const page of services.contents.everything(bucket)) {
      versions += page.length;
      if (versions > maxVersions) throw tooMany();
      if ((await survey.judge(page)) === undefined) return undefined;
    }
    return survey;
  } catch (error) {
    log.warn('proxy.bucket.not-cleared', { error: messageOf(error) });
    return undefined;
  }
}

async function deleteCleared(
  services: ObjectServices,
  context: RequestContext,
  survey: BucketSurvey,
  refused: S3Error,
): Promise<UpstreamResponse> {
  try {
    await clear(services, context.request.bucket, survey, refused);
    const response = await forward(services, context, nothing);
    if (response.status < 300) return response;
    throw await refusal(response);
  } catch (error) {
    await restore(services, context, survey);
    throw error instanceof S3Error && error.status < 500 ? error : refused;
  }
}

/** Judges each page again, because what has come since the survey may be somebody else's. */
async function clear(
  { contents }: ObjectServices,
  bucket: string,
  survey: BucketSurvey,
  refused: S3Error,
): Promise<void> {
  for await (const page of contents.everything(bucket)) {
    const own = await survey.judge(page);
    if (own === undefined) throw refused;
    await contents.deleteVersions(bucket, own);
  }
}

/** NoSuchBucket means that the bucket was deleted after all. */
async function restore(
  { contents }: ObjectServices,
  { request, log }: RequestContext,
  { kept }: BucketSurvey,
) {
  await concurrently([...kept.keys()], writesAtOnce, (key) =>
    contents.put(request.bucket, key, kept.get(key) ?? '').catch((error: unknown) => {
      if (error instanceof S3Error && error.code === 'NoSuchBucket') return;
      log.error('proxy.bucket.not-restored', { bucket: request.bucket, key, error: messageOf(error) });
    }),
  );
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown');
