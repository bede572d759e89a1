import type { S3Error } from '../../../core/s3/error.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';

/** A condition that was not met is 412 for those who want the object for something else than a GET. */
export const preconditionOf = (error: S3Error): S3Error =>
  error.status === 304 ? s3Error('PreconditionFailed') : error;
