import * as assert from 'uvu/assert';
import type { RawAnswer } from '../../support/raw-http.ts';

/** Refused in time: an S3 error and not one byte of the object. */
export function assertRefused(answer: RawAnswer, label: string, status = 500, code = 'InternalError'): void {
  assert.is(answer.status, status, `${label}: ${answer.status} ${answer.code}`);
  assert.is(answer.code, code, label);
}

/** What began must break, so that the client cannot take it for a whole body. */
export function assertBroken(answer: RawAnswer, label: string): void {
  if (answer.status >= 400) return assertRefused(answer, label);
  assert.is(answer.complete, false, `${label}: a complete body of ${answer.body.length} bytes arrived`);
  if (answer.status === 0) return;
  assert.ok(answer.body.length < Number(answer.headers['content-length']), `${label}: all bytes arrived`);
}
