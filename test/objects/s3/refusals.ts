import * as assert from 'uvu/assert';
import { S3Error } from '../../../src/objects/s3/error.ts';

/** The code of the S3Error that `act` throws; fails for anything else. */
export function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    assert.instance(error, S3Error, `not an S3 error: ${error}`);
    return (error as S3Error).code;
  }
  throw new Error('nothing was refused');
}
