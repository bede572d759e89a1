import { createVaultClient } from '../../../src/keyserver/client.ts';
import { failureOf } from '../../../src/keyserver/contract.ts';
import type { ResolvedVaultSettings, VaultAuth } from '../../../src/keyserver/settings.ts';
import { asAdministrator } from '../../../src/plugins/dev/keys/set-up.ts';
import { openVault } from '../../../src/plugins/validate/open-vault.ts';
import type { ValidateConfig } from '../../../src/plugins/validate/settings.ts';
import { quietLog } from '../../plugins/dev/quiet-log.ts';
import { clientOf, patient } from '../secret-client/client-fixture.ts';

/** What a test of all components may set. */
export interface ComponentSettings {
  readonly auth?: VaultAuth;
  readonly caFiles?: readonly string[];
  readonly caPath?: string;
}

/** A component's own way to the key server: logs in, and asks for something with the token. */
export interface Component {
  readonly name: string;
  /** @throws VaultError */
  ask(url: URL, settings?: ComponentSettings): Promise<void>;
}

const request = { method: 'GET', path: 'kv/data/x' } as const;
const given: VaultAuth = { method: 'token', token: 's.token' };

const proxy: Component = {
  name: 'proxy',
  async ask(url, { auth = given, caFiles = [], caPath } = {}) {
    const endpoint = { url, skipVerify: false, caFiles, caPath, client: undefined };
    const config = { endpoint, auth, namespace: undefined };
    const limits = { attempts: 1 };
    const client = createVaultClient({
      ...{ component: 'proxy', config, log: quietLog(), limits },
      onState: () => undefined,
    });
    try {
      await client.start();
      await client.request(request);
    } finally {
      await client.close();
    }
  },
};

const wrapper: Component = {
  name: 'wrapper',
  async ask(url, { auth = given, caFiles = [], caPath } = {}) {
    const client = clientOf(url, { auth, caFiles, caPath });
    try {
      await client.logIn(patient());
      (await client.read('kv/data/x', patient())).release();
    } finally {
      client.close();
    }
  },
};

const validate: Component = {
  name: 'validate',
  async ask(url, { auth = given, caFiles = [], caPath } = {}) {
    const [vaultCaCert] = caFiles;
    const config = {
      vaultAddr: url,
      vaultSkipVerify: false,
      vaultCaCert,
      vaultCaPath: caPath,
      ...loginOf(auth),
    };
    const vault = await openVault(config as ValidateConfig & ResolvedVaultSettings, patient());
    try {
      const session = await vault.workload();
      const answer = await session.ask(request, patient());
      if (answer.status >= 300) throw failureOf(request, answer);
    } finally {
      await vault.close();
    }
  },
};

/** It talks to a server on this machine only, as its administrator. */
const dev: Component = {
  name: 'dev',
  ask: (url) =>
    asAdministrator({ url: url.href, rootToken: 's.token' }, async ({ ask }) => void (await ask(request))),
};

function loginOf(auth: VaultAuth): Partial<ResolvedVaultSettings> {
  if (auth.method === 'token') return { vaultToken: auth.token };
  if (auth.method === 'token-file') return { vaultTokenFile: auth.path };
  const { role, mountPath, serviceAccountTokenPath } = auth;
  return { vaultAuthRole: role, vaultAuthMountPath: mountPath, serviceAccountTokenPath };
}

/** Those that log in. */
export const workloads: readonly Component[] = [proxy, wrapper, validate];
export const components: readonly Component[] = [...workloads, dev];
