import { collect } from '../../../core/collect.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { unavailable } from './failures.ts';
import type { ReadBody } from './upstream.ts';

export const readBody: ReadBody = async ({ body }, limit) => {
  const tooLong = () => s3Error('InternalError', 'The object store answered with more than it should.');
  try {
    return await collect(body, limit, tooLong);
  } catch (error) {
    throw unavailable(error);
  }
};
