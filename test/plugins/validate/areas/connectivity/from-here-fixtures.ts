import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Fixture, Fixtures } from '../../fixture.ts';
import { fakeStore } from '../../store/fake-store.ts';
import { fakeVault } from '../../vault/fake-vault.ts';

/** One that listens until the tests are over, or a port where nothing does. */
async function place(listening: boolean): Promise<URL> {
  const server = createServer((socket) => socket.end())
    .listen(0, '127.0.0.1')
    .unref();
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  if (!listening) await new Promise((closed) => server.close(closed));
  return new URL(`http://127.0.0.1:${port}`);
}

const vaultAt = (listening: boolean) => (): Fixture => ({
  vault: async () => ({ ...fakeVault(), address: await place(listening) }),
});
const storeAt = (listening: boolean) => (): Fixture => ({
  store: async () => fakeStore({ address: await place(listening) }).store,
});

export const fixtures: Fixtures = {
  'SVC-NET-050': { passes: vaultAt(true), fails: vaultAt(false) },
  'SVC-NET-051': { passes: storeAt(true), fails: storeAt(false) },
};
