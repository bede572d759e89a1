import { once } from 'node:events';
import { connect, createServer } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createRegistryHttpClient } from '../../../src/cluster/images/registry-http-client.ts';
import { tlsClientLimits } from '../../../src/runtime/net/tls-limits.ts';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { listen } from '../../support/loopback.ts';

const test = suite('a server that sets the price of the key exchange');
const authority = createCertificateAuthority();

/** Groups of 10,000 bits cost 0.7 s a connection. */
const classic = {
  ...authority.issue({ commonName: 'localhost' }),
  ...({ ciphers: 'DHE-RSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2', dhparam: 'auto' } as const),
};

test('is not met by a client with these limits, and is by Node’s own', async () => {
  const server = await listen(createServer(classic).on('tlsClientError', () => undefined));
  const meet = async (limits: object) => {
    const socket = connect({ host: '127.0.0.1', port: server.port, ca: authority.cert, ...limits });
    const met = await once(socket, 'secureConnect').then(
      () => socket.getCipher().name,
      (error) => error.code,
    );
    socket.destroy();
    return met;
  };
  assert.is(await meet({ servername: 'localhost' }), 'DHE-RSA-AES128-GCM-SHA256');
  assert.match(await meet({ servername: 'localhost', ...tlsClientLimits }), /HANDSHAKE_FAILURE/);
  await server.stop();
});

test('is no registry', async () => {
  const server = await listen(createServer(classic).on('tlsClientError', () => undefined));
  const client = createRegistryHttpClient({ authorities: authority.cert, local: true });
  const { signal } = new AbortController();
  const url = new URL(`${server.url}/v2/`);
  const asked = client.send({ method: 'GET', url, headers: {}, maxBytes: 1_000, signal });
  assert.match(
    await asked.then(
      () => 'an answer',
      ({ cause }) => String(cause),
    ),
    /handshake failure/,
  );
  client.close();
  await server.stop();
});

test.run();
