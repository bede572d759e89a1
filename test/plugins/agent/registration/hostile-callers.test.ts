import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  clientPreface,
  frameFlag,
  frameType,
  writeFrame,
} from '../../../../src/plugins/wrapper/agent/http2-frames.ts';
import { registerWithAgent } from '../../../../src/plugins/wrapper/agent/register.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { startCaller } from './support/callers.ts';
import { registration } from './support/messages.ts';
import { body, head, hello, message, registerCall, registerPath } from './support/raw-call.ts';
import { type Served, withServed } from './support/served.ts';

export const slow = true;

const test = suite('registration, against hostile callers');

/** What is open when the tests end keeps nothing alive. */
function open({ socketPath }: Served): Socket {
  const socket = connect(socketPath);
  socket.on('error', () => {}).resume();
  return socket;
}

async function stillServes({ socketPath }: Served): Promise<void> {
  const { registeredPid } = await registerWithAgent(registration, { socketPath, timeoutMs: 10_000 });
  assert.is(registeredPid, process.pid);
}

/** What a stream takes before it is read, and a little less than the longest message. */
const longestMessage = 65_530;
/** Of field 15, which the schema has not; the group is a message in a message. */
const startOfGroup = 0x7b;
/** `protection` of a RegisterRequest, with nothing in it. */
const emptyPart = [0x1a, 0x00];

const garbage: Readonly<Record<string, Buffer>> = {
  'nothing at all': Buffer.alloc(0),
  zeros: Buffer.alloc(100_000),
  'a request of HTTP/1': Buffer.from('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc'),
  'a greeting of TLS': Buffer.from('16030100c8010000c40303', 'hex'),
  'a greeting that breaks off': clientPreface.subarray(0, 10),
  'a greeting and noise': Buffer.concat([clientPreface, Buffer.alloc(50_000, 0xff)]),
  'a frame that is too long': Buffer.concat([hello, Buffer.from('ffffff000000000001', 'hex')]),
  'settings that are none': Buffer.concat([
    clientPreface,
    writeFrame(frameType.settings, 0, 0, Buffer.from([1, 2, 3])),
  ]),
  'headers that are none': Buffer.concat([
    hello,
    writeFrame(frameType.headers, frameFlag.endHeaders, 1, Buffer.alloc(64, 0xff)),
  ]),
  'a call of another type': Buffer.concat([hello, head(registerPath, 1, 'text/html'), body(1, [])]),
  'a method that there is not': Buffer.concat([hello, head('/x/Y', 1), body(1, [0, 0, 0, 0, 0])]),
  'no message': Buffer.concat([hello, head(registerPath, 1), body(1, [])]),
  'a message that breaks off': Buffer.concat([hello, head(registerPath, 1), body(1, [0, 0, 0, 0, 9, 10])]),
  'a length of 4 GiB': Buffer.concat([hello, head(registerPath, 1), body(1, [0, 255, 255, 255, 255, 1])]),
  'a message that is no protobuf': Buffer.concat([
    hello,
    head(registerPath, 1),
    body(1, [0, 0, 0, 0, 3, 255, 255, 255]),
  ]),
  'groups nested as deep as a message has room': Buffer.concat([
    hello,
    head(registerPath, 1),
    message(1, Buffer.alloc(longestMessage, startOfGroup)),
  ]),
  'a packing that there is not': Buffer.concat([hello, head(registerPath, 1), body(1, [1, 0, 0, 0, 1, 1])]),
  'a thousand streams': Buffer.concat([
    hello,
    ...Array.from({ length: 1000 }, (_, index) => head(registerPath, 2 * index + 1)),
  ]),
  'streams that are given up at once': Buffer.concat([
    hello,
    ...Array.from({ length: 500 }, (_, index) =>
      Buffer.concat([
        head(registerPath, 2 * index + 1),
        writeFrame(frameType.reset, 0, 2 * index + 1, Buffer.from([0, 0, 0, 8])),
      ]),
    ),
  ]),
};

for (const [name, bytes] of Object.entries(garbage)) {
  test(`survives ${name}`, () =>
    withServed(
      async (served) => {
        const [left, stays] = [open(served), open(served)];
        const closed = once(stays, 'close');
        left.end(bytes);
        stays.write(bytes);
        await stillServes(served);
        await closed;
        await stillServes(served);
        assert.equal(new Set(served.guard.protected), new Set([process.pid]));
        assert.is(served.guard.protected.length, 2);
      },
      { lifetimeMs: 200 },
    ));
}

const mebibyte = 1_048_576;
const headOfAll = Buffer.concat([1, 3, 5, 7].map((stream) => head(registerPath, stream)));

test('takes as much memory as all connections may have, and no more', () =>
  withServed(
    async (served) => {
      const parts = Buffer.from(Array.from({ length: longestMessage / 2 }, () => emptyPart).flat());
      const before = process.memoryUsage.rss();
      const held = Array.from({ length: 256 }, () => open(served));
      for (const socket of held) {
        socket.write(Buffer.concat([hello, headOfAll]));
        for (const stream of [1, 3, 5]) socket.write(message(stream, parts, 1));
        socket.write(message(7, parts));
      }
      await waitFor('the answers', async () => {
        const [counted = ''] = await served.metrics('svc_agent_registrations_total{outcome="registered"}');
        return counted.endsWith(' 256');
      });
      const taken = (process.memoryUsage.rss() - before) / mebibyte;
      for (const socket of held) socket.destroy();
      // this process is all callers, too, which hold as much again
      assert.ok(taken < 320, `${Math.round(taken)} MiB`);
      await stillServes(served);
    },
    { bounds: { perProcess: 256, total: 256 }, lifetimeMs: 60_000 },
  ));

test('ends a caller that sends a byte now and then', () =>
  withServed(
    async (served) => {
      const slow = open(served);
      let sent = 0;
      const timer = setInterval(() => {
        if (sent < registerCall.length - 1) slow.write(registerCall.subarray(sent, ++sent));
      }, 20);
      await once(slow, 'close');
      clearInterval(timer);
      assert.ok(sent < registerCall.length - 1, 'it was cut while it was still sending');
      assert.equal(served.guard.protected, []);
    },
    { lifetimeMs: 300 },
  ));

test('a caller that holds all connections keeps nobody out', () =>
  withServed(
    async (served) => {
      const held = Array.from({ length: 100 }, () => open(served));
      await Promise.all(held.map((socket) => once(socket, 'connect')));
      const other = await startCaller(served.socketPath);
      assert.is(other.answers[0].registeredPid, other.pid);
      await stillServes(served);
      await waitFor('the end of the oldest', () => held.filter(({ closed }) => closed).length >= 84);
      assert.ok(held.slice(-10).every(({ closed }) => !closed));
      for (const socket of held) socket.destroy();
      await other.end();
    },
    { bounds: { perProcess: 16, total: 20 }, lifetimeMs: 600_000 },
  ));

test('a flood of refusals does not fill the log', () =>
  withServed(async (served) => {
    const options = { socketPath: served.socketPath, timeoutMs: 10_000 };
    const begun = performance.now();
    for (let time = 0; time < 100; time++)
      await registerWithAgent({ ...registration, podUid: 'x' }, options).catch(() => {});
    const lines = served.log.filter(({ event }) => event === 'registration.refused');
    const seconds = 2 + (performance.now() - begun) / 1000;
    assert.ok(lines.length >= 1 && lines.length <= 10 * seconds, String(lines.length));
    const [counted] = await served.metrics('svc_agent_registrations_total{outcome="invalid_pod_uid"}');
    assert.match(counted ?? '', / 100$/);
  }));

test('ends with callers that do not go', async () => {
  let socket: Socket | undefined;
  await withServed(
    async (served) => {
      socket = open(served);
      await once(socket, 'connect');
      await stillServes(served);
    },
    { lifetimeMs: 60_000 },
  );
  await waitFor('the end of the connection', () => socket?.closed);
});

test.run();
