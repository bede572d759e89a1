import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { resetSocket } from '../../../src/runtime/net/accepted-sockets.ts';
import { createCertificateAuthority } from '../../support/certificates.ts';

const test = suite('resetSocket');

/** Two ends of a connection whose accepting end reads nothing. */
async function pair(): Promise<{ near: Socket; far: Socket; close: () => void }> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[far]] = await Promise.all([once(server, 'connection'), once(near, 'connect')]);
  return { near, far, close: () => server.close() };
}

test('the peer sees a reset', async () => {
  const { near, far, close } = await pair();
  far.resume();
  const [failed] = await Promise.all([once(far, 'error'), resetSocket(near)]);
  assert.is((failed[0] as NodeJS.ErrnoException).code, 'ECONNRESET');
  close();
});

test('a socket whose end is under way is let go of as well', async () => {
  const { near, far, close } = await pair();
  near.write(Buffer.alloc(16 * 1024 * 1024));
  near.end();
  resetSocket(near);
  await once(near, 'close');
  far.destroy();
  close();
});

test('a TLS connection may be reset from within its own handshake', async () => {
  const { cert, key } = createCertificateAuthority().issue({ commonName: 'near' });
  const server = createTlsServer({ cert, key }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let carrier: Socket | undefined;
  server.on('connection', (socket) => {
    carrier = socket;
  });
  server.on('secureConnection', (socket) =>
    resetSocket(
      socket.on('error', () => undefined),
      carrier,
    ),
  );
  for (let count = 0; count < 20; count++) {
    const far = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    const [failed] = await once(
      far.on('secureConnect', () => far.write('x')),
      'error',
    ).catch((e) => [e]);
    assert.is((failed as NodeJS.ErrnoException).code, 'ECONNRESET');
  }
  server.close();
});

test.run();
