import { readFileSync } from 'node:fs';
import { performServerHandshake } from 'node:http2';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { connect } from 'node:tls';
import { queryObjects } from 'node:v8';
import { suite } from 'uvu';
import { collectGarbage } from '../../../support/collect-garbage.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type ChannelRig, startChannel } from './channel-rig.ts';
import { announced, frameOf, headOf, opening } from './frames.ts';

const test = suite('connections of agents that have ended');

/** Its class, which Node does not export. */
const session = performServerHandshake(new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }));
session.destroy();

/** Sessions that something still refers to. */
async function countSessions(): Promise<number> {
  await turn();
  collectGarbage();
  return queryObjects(session.constructor as new () => object, { format: 'count' });
}

/** A connection that begins a report, and is ended by its agent. */
async function beginAndEnd({ address, tls }: ChannelRig): Promise<void> {
  const [ca, key, cert] = [tls.caPath, tls.keyPath, tls.certPath].map((path) => readFileSync(path));
  const socket = connect({ ...address, ca, key, cert, servername: 'localhost', ALPNProtocols: ['h2'] });
  const begun = Buffer.concat([opening, headOf(1), frameOf('data', 1, announced(1_000_000))]);
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject).on('secureConnect', () => socket.write(begun));
    // the settings of the other side: it has a session
    socket.once('data', () => resolve());
  });
  socket.destroy();
}

test('leave nothing behind', async () => {
  const rig = await startChannel();
  try {
    const before = await countSessions();
    for (let from = 0; from < 20; from++) await beginAndEnd(rig);
    await waitFor('their memory to be free', async () => (await countSessions()) <= before + 1, {
      timeoutMs: 10_000,
    });
  } finally {
    await rig.stop();
  }
});

test.run();
