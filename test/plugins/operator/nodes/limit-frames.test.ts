import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FrameMeter, limitFrames } from '../../../../src/plugins/operator/nodes/limit-frames.ts';
import { announced, frameOf, headOf, opening } from './frames.ts';

const test = suite('frames of an agent’s connection');

const still = () => 0;
const many = (count: number, frame: Buffer) => Buffer.concat(Array<Buffer>(count).fill(frame));
const preface = opening.subarray(0, 24);

/** How many of the pieces are counted before it is too much. */
function passed(pieces: Iterable<Buffer>, meter = new FrameMeter(still)): number {
  let count = 0;
  for (const piece of pieces) {
    if (!meter.count(piece)) break;
    count += 1;
  }
  return count;
}

function* again(piece: Buffer, first = preface): Iterable<Buffer> {
  yield first;
  for (let count = 0; count < 10_000; count++) yield piece;
}

const padded = Buffer.concat([Buffer.from([255]), Buffer.alloc(256)]);
const cheap: Readonly<Record<string, Buffer>> = {
  settings: frameOf('settings', 0),
  windows: frameOf('window', 0, Buffer.from([0, 0, 0, 1])),
  pings: frameOf('ping', 0, Buffer.alloc(8)),
  priorities: frameOf('priority', 1, Buffer.from([0, 0, 0, 0, 1])),
  resets: frameOf('reset', 1, Buffer.from([0, 0, 0, 8])),
  'data without any bytes': frameOf('data', 1),
  'data of padding': frameOf('data', 1, padded, 8),
  'heads that go on': frameOf('continuation', 1),
  'frames of a kind that nobody knows': frameOf('unknown', 0),
};
for (const [name, frame] of Object.entries(cheap)) {
  test(`256 at once are too many, in one piece or in many: ${name}`, () => {
    assert.is(passed([preface, many(250, frame)]), 2);
    assert.is(passed([preface, many(260, frame)]), 1);
    const apart = passed(again(frame));
    assert.ok(apart > 250 && apart < 260, `${apart}`);
  });
}

test('pieces of a byte each are too many, whatever they say', () => {
  const report = Buffer.concat([opening, headOf(1), frameOf('data', 1, Buffer.alloc(16_000))]);
  const bytes = Array.from(report, (byte) => Buffer.from([byte]));
  assert.ok(passed(bytes) < 260);
});

test('64 in a second are not', () => {
  let now = 0;
  const meter = new FrameMeter(() => now);
  meter.count(preface);
  for (let count = 0; count < 10_000; count++) {
    assert.ok(meter.count(frameOf('ping', 0, Buffer.alloc(8))), `${count}`);
    now += 1_000 / 64;
  }
});

test('the longest reports are not, one after the other, in the packets of a network', () => {
  const frames: readonly Buffer[] = [announced(1_000_000), ...Array<Buffer>(61).fill(Buffer.alloc(16_384))];
  const report = [headOf(1), ...frames.map((payload) => frameOf('data', 1, payload))];
  const reports = Array<readonly Buffer[]>(20).fill(report).flat();
  const bytes = Buffer.concat([opening, ...reports]);
  for (const length of [1_000, 16_384, 65_536]) {
    const pieces = [];
    for (let at = 0; at < bytes.length; at += length) pieces.push(bytes.subarray(at, at + length));
    assert.is(passed(pieces), pieces.length, `${length}`);
  }
});

/** What arrives is pushed to it. */
const connection = () =>
  new Duplex({ read() {}, write: (_bytes, _encoding, done) => done(), autoDestroy: true });

test('are handed on a piece in a turn, however many have arrived', async () => {
  const socket = connection();
  const seen: Buffer[] = [];
  limitFrames(socket, assert.unreachable).on('data', (piece: Buffer) => seen.push(piece));
  socket.push(opening);
  for (const piece of Array<Buffer>(19).fill(frameOf('data', 1, Buffer.alloc(1_000)))) socket.push(piece);
  for (let turns = 1; turns <= 10; turns++) {
    const before = seen.length;
    await turn();
    assert.ok(seen.length - before <= 1);
  }
  while (seen.length < 20) await turn();
});

test('are not handed on when they are too many', async () => {
  const socket = connection();
  let passedOn = 0;
  const excess = Promise.withResolvers<void>();
  limitFrames(socket, excess.resolve).on('data', ({ length }: Buffer) => {
    passedOn += length;
  });
  socket.push(opening);
  socket.push(many(7_000, frameOf('settings', 0)));
  await excess.promise;
  assert.is(passedOn, opening.length);
});

test('the connection ends with what it carries, and the other way round', async () => {
  const [first, second, third] = [connection(), connection(), connection()];
  const limited = [first, second, third].map((socket) => limitFrames(socket, assert.unreachable).resume());
  const ended = limited.map((one) => new Promise((resolve) => one.once('close', resolve)));
  first.destroy();
  second.push(null);
  limited[1]?.end();
  limited[2]?.destroy(new Error('whatever'));
  await Promise.all(ended);
  assert.ok([first, second, third].every(({ destroyed }) => destroyed));
});

test.run();
