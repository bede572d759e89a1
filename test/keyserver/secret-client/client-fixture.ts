import type { SecretClient, SecretDocument } from '../../../src/keyserver/secret-client/contract.ts';
import {
  createSecretClient,
  type SecretClientOptions,
} from '../../../src/keyserver/secret-client/create-secret-client.ts';
import type { VaultAuth, VaultConfig } from '../../../src/keyserver/settings.ts';
import { type PlainMemory, plainMemory } from '../../support/plain-memory.ts';

export interface TestClient extends SecretClient {
  readonly memory: PlainMemory;
}

export type ClientChanges = Partial<VaultConfig['endpoint']> &
  Partial<Omit<SecretClientOptions, 'config' | 'memory' | 'timeouts'>> &
  SecretClientOptions['timeouts'] & { auth?: VaultAuth; namespace?: string };

const options = ['token', 'openServiceAccountToken'] as const;
const times = ['connectTimeoutMs', 'requestTimeoutMs'] as const;

/** A client in ordinary memory, with the token `s.token` unless another login is given. */
export function clientOf(url: string | URL, changes: ClientChanges = {}): TestClient {
  const { auth = { method: 'token', token: 's.token' }, namespace, ...rest } = changes;
  const memory = plainMemory();
  const endpoint = { skipVerify: false, caFiles: [], caPath: undefined, client: undefined, ...rest };
  const those = (names: readonly (keyof typeof rest)[]) =>
    Object.fromEntries(names.filter((name) => name in rest).map((name) => [name, rest[name]]));
  const config = { endpoint: { ...endpoint, url: new URL(url) }, auth, namespace };
  return Object.assign(createSecretClient({ config, memory, ...those(options), timeouts: those(times) }), {
    memory,
  });
}

/** A signal for what should succeed or fail long before. */
export const patient = (): AbortSignal => AbortSignal.timeout(60_000);

/** The values as text. */
export function textsOf({ fields }: SecretDocument): Record<string, string> {
  return Object.fromEntries(fields.map(({ name, value }) => [name, Buffer.from(value).toString()]));
}

/** Reads a path, and gives its values as text. */
export async function readTexts(client: SecretClient, path: string): Promise<Record<string, string>> {
  const document = await client.read(path, patient());
  try {
    return textsOf(document);
  } finally {
    document.release();
  }
}
