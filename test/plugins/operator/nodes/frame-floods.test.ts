import { readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createGrpcEndpoint } from '../../../../src/plugins/operator/nodes/grpc-endpoint.ts';
import { listen } from '../../../support/loopback.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type ChannelRig, startChannel } from './channel-rig.ts';
import { rawAgent } from './raw-agent.ts';

const test = suite<{ rig: ChannelRig }>('a connection with the agents’ certificate that sends cheap frames');

test.before.each(async (context) => {
  context.rig = await startChannel();
});
test.after.each(({ rig }) => rig.stop());

const types = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, window: 8, unknown: 0xee };
const endHeaders = 4;

function frameOf(type: keyof typeof types, stream: number, payload = Buffer.alloc(0), flags = 0): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = types[type];
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Literals without an index; all are short. */
const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
const fields = {
  ':method': 'POST',
  ':scheme': 'https',
  ':path': '/svc.operator.v1.NodeChannel/ReportNode',
  ':authority': 'svc-operator',
  'content-type': 'application/grpc',
  te: 'trailers',
};
const headPayload = Buffer.concat(
  Object.entries(fields).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]),
);
const headOf = (stream: number) => frameOf('headers', stream, headPayload, endHeaders);
const many = (count: number, frame: Buffer) => Buffer.concat(Array<Buffer>(count).fill(frame));
const announced = (length: number) => {
  const message = Buffer.alloc(5);
  message.writeUInt32BE(length, 1);
  return message;
};
const cancel = Buffer.from([0, 0, 0, 8]);

async function dial({ address, tls }: ChannelRig): Promise<TLSSocket> {
  const [ca, key, cert] = [tls.caPath, tls.keyPath, tls.certPath].map((path) => readFileSync(path));
  const options = { ca, key, cert, servername: 'localhost', ALPNProtocols: ['h2'] } as const;
  const socket = connect({ ...address, ...options }).on('error', () => {});
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frameOf('settings', 0)]));
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

const floods: Readonly<Record<string, readonly [Buffer, Buffer]>> = {
  'a report of pieces of one byte': [
    Buffer.concat([headOf(1), frameOf('data', 1, announced(1_000_000))]),
    many(1_000, frameOf('data', 1, Buffer.from([0]))),
  ],
  'data without any bytes': [headOf(1), many(1_000, frameOf('data', 1))],
  priorities: [Buffer.alloc(0), many(1_000, frameOf('priority', 1, Buffer.from([0, 0, 0, 0, 1])))],
  windows: [Buffer.alloc(0), many(1_000, frameOf('window', 0, Buffer.from([0, 0, 0, 1])))],
  'frames of a kind that nobody knows': [Buffer.alloc(0), many(1_000, frameOf('unknown', 0))],
  settings: [Buffer.alloc(0), many(1_000, frameOf('settings', 0))],
  pings: [Buffer.alloc(0), many(1_000, frameOf('ping', 0, Buffer.alloc(8)))],
};
for (const [name, blocks] of Object.entries(floods)) {
  test(`is ended: ${name}`, async ({ rig }) => {
    assert.ok(await isEnded(rig, blocks));
  });
}

test('is ended at the third report that it breaks off in one packet', async ({ rig }) => {
  const endpoint = await createGrpcEndpoint(() => new Promise(() => {}));
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
