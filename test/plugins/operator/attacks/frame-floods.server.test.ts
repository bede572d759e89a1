import { connect } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { patient } from '../../../support/patience.ts';
import { frameOf, opening } from '../nodes/frames.ts';
import { reviewOf } from '../webhook/support/review-of.ts';
import { usualPod } from '../webhook/support/worst-pods.ts';
import { addressForAgents } from './agent-reports.ts';
import { type LimitedOperator, startLimitedOperator } from './limited-operator.ts';

const test = suite('the operator, while agents send cheap frames');
export const timeout = 120_000;

let limited: LimitedOperator;
test.before(async () => {
  limited = await startLimitedOperator();
});
test.after(() => limited?.stop());

const review = JSON.stringify(reviewOf(usualPod));
const windows = Buffer.concat(Array<Buffer>(20_000).fill(frameOf('window', 0, Buffer.from([0, 0, 0, 1]))));
const connections = 16;
const floodMs = 5_000;

/** Connections that send without end, and connect again when they are ended. @returns how many were let in at the end */
async function flood(): Promise<() => number> {
  const options = await addressForAgents(limited);
  let letIn = 0;
  let isOver = false;
  const dial = () => {
    const socket = connect(options);
    const send = () => void (isOver ? socket.destroy() : socket.write(windows, () => setImmediate(send)));
    socket
      .on('secureConnect', () => {
        letIn += 1;
        socket.write(opening);
        send();
      })
      .on('error', () => {})
      .on('close', () => isOver || setTimeout(dial, 100))
      .resume();
  };
  for (let count = 0; count < connections; count++) dial();
  return () => {
    isOver = true;
    return letIn;
  };
}

test('answers reviews meanwhile, and lets no connection of theirs in a second time', async () => {
  const end = await flood();
  const began = performance.now();
  let slowest = 0;
  while (performance.now() - began < floodMs) {
    const asked = performance.now();
    const { status, text } = await limited.review(review);
    assert.is(status, 200, text);
    slowest = Math.max(slowest, performance.now() - asked);
  }
  const letIn = end();
  assert.ok(letIn > 0 && letIn <= connections, `${letIn} let in`);
  assert.ok(slowest < patient(1_000), `${slowest} ms`);
  assert.ok(limited.operator.events('nodes.flooded').length > 0);
});

test.run();
