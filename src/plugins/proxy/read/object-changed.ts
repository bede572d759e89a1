import { S3Error } from '../../../core/s3/error.ts';

/** The object was replaced between two requests for it; reading it anew helps. */
export class ObjectChanged extends S3Error {
  constructor() {
    super('ServiceUnavailable', 503, 'The object changed while it was read. Please retry.');
  }
}
