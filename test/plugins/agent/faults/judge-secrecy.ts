import * as assert from 'uvu/assert';
import type { SecrecyRecord } from './driver/plan.ts';

export function judgeSecrecy({ searched, markers, found }: SecrecyRecord): void {
  assert.ok(searched > 500 && markers > 0, `${searched} characters for ${markers} markers`);
  assert.is(found, 0);
}
