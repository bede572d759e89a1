import * as assert from 'uvu/assert';
import type { FallbackRecord } from './driver/fallback.ts';

/** Of an emulated machine that shares its processors; on one of one's own it is about one second. */
const longestMs = 30_000;

/** Tier 1 loads and does not work, and the next one takes over. */
export function judgeFallback({ decidedMs, ...record }: FallbackRecord): void {
  assert.is(record.tier, '2');
  assert.match(record.notHigher ?? '', /^lsm: It loads but does not work: a read of the decoy succeeded$/);
  assert.ok(decidedMs >= 0 && decidedMs < longestMs, `decided after ${decidedMs} ms`);
  assert.is(record.ready.status, 200);
  assert.is(record.ready.body['tier'], 2);
  assert.is(record.ready.body['enforcing'], true);
  assert.is(record.healthy, 200);
  assert.equal(record.tierMetric, ['svc_agent_tier{tier="fmod_ret"} 1']);
  assert.is(record.attack, 'denied');
}
