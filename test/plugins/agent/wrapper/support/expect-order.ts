import * as assert from 'uvu/assert';
import type { OrderRecord } from './order.ts';

/** Registered, fetched, started, in this order and each time; and from the registration on nobody read anything. */
export function expectUnread(record: OrderRecord): void {
  assert.equal(record.disorder, []);
  assert.equal(record.leaked, {});
  assert.equal(record.readAfter, []);
  assert.is(record.watched.leaked, 0);
  assert.is(record.registered, record.starts);
  assert.ok(record.applications >= record.starts);
  // they were there before the registration, and went on afterwards
  assert.ok(record.readBefore > 0);
  for (const { killed, denied } of [record.stalked, record.watched]) assert.ok(killed + denied > 0);
}
