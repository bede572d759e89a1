import { S3Error } from '../../../core/s3/error.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';

/** True for an answer that says that the object does not exist. */
export const isMissing = (error: unknown): boolean => error instanceof S3Error && error.code === 'NoSuchKey';

/** Whether a further attempt may do better. */
export const mayPass = (error: unknown): boolean => error instanceof S3Error && error.status >= 500;

/** Throws what went wrong with a helper object as callers see it. The store's own words stay in the cause. */
export function stateFailure(error: unknown): never {
  if (!(error instanceof S3Error) || error.code === 'ServiceUnavailable') throw error;
  if (error.code === 'NoSuchBucket') throw s3Error('NoSuchBucket', undefined, { cause: error });
  const message = `A helper object of the proxy could not be reached in the object store (${error.code}). Please retry.`;
  throw s3Error('ServiceUnavailable', message, { cause: error });
}
