import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Drain } from '../../../../src/plugins/proxy/server/drain.ts';

const test = suite('what callers still send of refused requests');

test('is read a few at a time; the others wait for their turn, and for nothing once their caller has gone', async () => {
  const drain = new Drain();
  const bodies = Array.from({ length: 10 }, () => new PassThrough());
  const ends = bodies.map((body) => drain.rest(body as unknown as IncomingMessage));
  await setImmediate();
  assert.is(bodies.filter((body) => body.readableFlowing === true).length, 8);
  const [first] = bodies;
  first?.end('the rest');
  await ends[0];
  await setImmediate();
  assert.equal(bodies.map((body) => body.readableFlowing === true).slice(8), [true, false]);
  bodies[9]?.destroy();
  await ends[9];
  for (const body of bodies) body.destroy();
  await Promise.all(ends);
});

test.run();
