import { readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createGrpcEndpoint } from '../../../../src/plugins/operator/nodes/grpc-endpoint.ts';
import { Budget } from '../../../../src/runtime/bounds/budget.ts';
import { listen } from '../../../support/loopback.ts';
import { protocolOf } from '../../../support/tls-versions.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type ChannelRig, startChannel } from './channel-rig.ts';
import { announced, frameOf, headOf, opening } from './frames.ts';
import { rawAgent } from './raw-agent.ts';

const test = suite<{ rig: ChannelRig }>('a connection with the agents’ certificate that sends cheap frames');

test.before.each(async (context) => {
  context.rig = await startChannel();
});
test.after.each(({ rig }) => rig.stop());

const many = (count: number, frame: Buffer) => Buffer.concat(Array<Buffer>(count).fill(frame));
const cancel = Buffer.from([0, 0, 0, 8]);

async function dial({ address, tls }: ChannelRig): Promise<TLSSocket> {
  const [ca, key, cert] = [tls.caPath, tls.keyPath, tls.certPath].map((path) => readFileSync(path));
  const options = { ca, key, cert, servername: 'localhost', ALPNProtocols: ['h2'] } as const;
  const socket = connect({ ...address, ...options }).on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve).once('close', () => reject(new Error('not let in')));
  });
  socket.write(opening);
  return socket.resume();
}

/** After which a connection that goes on counts as one that nobody ends. */
const maxMs = 15_000;

/** @param blocks first some bytes, then others again and again */
async function isEnded(rig: ChannelRig, [first, again]: readonly [Buffer, Buffer]): Promise<boolean> {
  const socket = await dial(rig);
  socket.write(first);
  const began = performance.now();
  while (performance.now() - began < maxMs && !socket.closed) {
    const goesOn = socket.write(again);
    await (goesOn
      ? turn()
      : new Promise((resolve) => {
          socket.once('drain', resolve).once('close', resolve);
        }));
    socket.removeAllListeners('drain').removeAllListeners('close');
  }
  const { closed } = socket;
  socket.destroy();
  return closed;
}

const settings: readonly [Buffer, Buffer] = [Buffer.alloc(0), many(1_000, frameOf('settings', 0))];

const floods: Readonly<Record<string, readonly [Buffer, Buffer]>> = {
  'a report of pieces of one byte': [
    Buffer.concat([headOf(1), frameOf('data', 1, announced(1_000_000))]),
    many(1_000, frameOf('data', 1, Buffer.from([0]))),
  ],
  'data without any bytes': [headOf(1), many(1_000, frameOf('data', 1))],
  priorities: [Buffer.alloc(0), many(1_000, frameOf('priority', 1, Buffer.from([0, 0, 0, 0, 1])))],
  windows: [Buffer.alloc(0), many(1_000, frameOf('window', 0, Buffer.from([0, 0, 0, 1])))],
  'frames of a kind that nobody knows': [Buffer.alloc(0), many(1_000, frameOf('unknown', 0))],
  settings,
  pings: [Buffer.alloc(0), many(1_000, frameOf('ping', 0, Buffer.alloc(8)))],
};
for (const [name, blocks] of Object.entries(floods)) {
  test(`is ended: ${name}`, async ({ rig }) => {
    assert.ok(await isEnded(rig, blocks));
  });
}

test('is refused with TLS 1.3, in which it could announce other keys as often as it likes', async ({
  rig,
}) => {
  assert.is(await protocolOf(rig.address, 'TLSv1.3'), undefined);
});

test('is kept out for half a minute, with all others of its address; the log tells', async ({ rig }) => {
  const other = await dial(rig);
  assert.ok(await isEnded(rig, settings));
  await waitFor('the end of the other', () => other.closed);
  const told = rig.lines.filter(({ event }) => event === 'nodes.flooded');
  assert.equal(
    told.map(({ peer }) => peer),
    ['127.0.0.1'],
  );
  const isLetIn = async () => {
    const socket = await dial(rig).catch(() => undefined);
    socket?.destroy();
    return socket !== undefined;
  };
  assert.not(await isLetIn());
  rig.wait(31_000);
  assert.ok(await isLetIn());
});

test('is ended at the third report that it breaks off in one packet', async ({ rig }) => {
  const endpoint = await createGrpcEndpoint({
    ...{ answer: () => new Promise(() => {}), memory: new Budget(0) },
  });
  let begun = 0;
  const { key, cert } = rig.authority.issue({ commonName: 'svc-operator' });
  const server = createServer({ key, cert, ALPNProtocols: ['h2'] }, (socket) => {
    socket.on('error', () => {});
    endpoint.serve(socket, () => {
      begun += 1;
      return true;
    });
  });
  const { port, stop } = await listen(server);
  const socket = await dial({ ...rig, address: { host: '127.0.0.1', port } });
  const ids = Array.from({ length: 100 }, (_, at) => 2 * at + 1);
  socket.write(Buffer.concat(ids.flatMap((id) => [headOf(id), frameOf('reset', id, cancel)])));
  await waitFor('its end', () => socket.closed);
  assert.is(begun, 2);
  await stop();
});

test('is not ended for long reports, one after the other', async ({ rig }) => {
  const agent = rawAgent(rig);
  for (let n = 0; n < 40; n++) {
    // no report, but of the right length
    const { code } = await agent.send(Buffer.alloc(1_000_000, 0xff));
    assert.is(code, 'INVALID_ARGUMENT');
  }
  agent.close();
});

test.run();
