import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createVaultClient,
  type ExchangingVaultClient,
  type RequestLimits,
} from '../../src/keyserver/client.ts';
import type { VaultAuth, VaultConfig } from '../../src/keyserver/settings.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary.ts';
import { type FakeKeyServer, fakeKeyServer, type Handler, type KeyServerReply } from './fake-key-server.ts';
import { type Recorder, recorder } from './recorder.ts';

export interface ClientContext {
  server: FakeKeyServer;
  folder: TemporaryFolder;
  recorded: Recorder;
  open: ExchangingVaultClient[];
  /** Writes a file and returns its path. */
  put: (name: string, text: string) => string;
  connect: (auth: VaultAuth, limits?: Partial<RequestLimits>, url?: URL) => ExchangingVaultClient;
}

export const deadToken: KeyServerReply = { status: 403, json: { errors: ['permission denied'] } };
export const missingPolicy: KeyServerReply = {
  status: 403,
  json: { errors: ['1 error occurred:\n\t* permission denied\n\n'] },
};
export const sealed: KeyServerReply = { status: 503, json: { errors: ['Vault is sealed'] } };
export const fine: KeyServerReply = { status: 200, json: { data: { fine: true } } };

/** A login's answer. */
export const granted = (token: string, lease = 3600, renewable = false): KeyServerReply => ({
  status: 200,
  json: { auth: { client_token: token, lease_duration: lease, renewable } },
});

/** A handler by the beginnings of paths; the first that fits answers. */
export const routes =
  (table: Readonly<Record<string, Handler>>): Handler =>
  (request, response) => {
    const found = Object.entries(table).find(([path]) => request.path.startsWith(path));
    return found === undefined ? { status: 404, json: { errors: [] } } : found[1](request, response);
  };

export async function openContext(context: ClientContext): Promise<void> {
  context.server = await fakeKeyServer(() => ({ status: 404, json: { errors: [] } }));
  context.folder = temporaryFolder('vault-client');
  context.recorded = recorder();
  context.open = [];
  context.put = (name, text) => {
    const path = join(context.folder.path, name);
    writeFileSync(path, text);
    return path;
  };
  context.connect = (auth, limits = {}, url = context.server.url) => {
    const { log, onState } = context.recorded;
    const client = createVaultClient({
      ...{ component: 'test', config: configFor(url, auth), log },
      ...{ onState, limits },
    });
    context.open.push(client);
    return client;
  };
}

export async function closeContext({ server, folder, open }: ClientContext): Promise<void> {
  for (const client of open) await client.close();
  await server.stop();
  await folder.remove();
}

function configFor(url: URL, auth: VaultAuth): VaultConfig {
  const endpoint = { url, skipVerify: false, caFiles: [], caPath: undefined, client: undefined };
  return { endpoint, auth, namespace: undefined };
}

/** Kubernetes auth with a service account token in a file. */
export function serviceAccount(context: ClientContext, jwt = 'header.payload.signature'): VaultAuth {
  const serviceAccountTokenPath = context.put('jwt', `${jwt}\n`);
  return { method: 'kubernetes', role: 'svc', mountPath: 'auth/kubernetes', serviceAccountTokenPath };
}
