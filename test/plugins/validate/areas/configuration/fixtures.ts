import { fileURLToPath } from 'node:url';
import { vaultSettings } from '../../../../../src/keyserver/settings.ts';
import { listenAddress } from '../../../../../src/runtime/settings/listen-address.ts';
import type { Fixture, Fixtures } from '../../fixture.ts';
import { fakeHost } from '../../host/fake-host.ts';
import { configOf } from '../../test-context.ts';

const listen = {
  variable: 'SVC_GREETER_LISTEN',
  flag: 'listen',
  summary: 'Where it listens',
  required: true as const,
  ...listenAddress(),
};
const components = async () => [{ name: 'greeter', settings: { ...vaultSettings, listen } }];
const withCheck = async () => [{ name: 'greeter', settings: { listen }, check: () => [] }];

const file = (name: string) => fileURLToPath(new URL(`files/${name}`, import.meta.url));
const shown = (fixture: Fixture) => (): Fixture => fixture;
const ofVariables = (env: Readonly<Record<string, string>>) =>
  shown({ env, components, config: configOf(env) });

const vault = { VAULT_ADDR: 'https://vault.test', VAULT_TOKEN: 'planted-token' };

export const fixtures: Fixtures = {
  'SVC-CONFIG-001': {
    passes: ofVariables({ SVC_GREETER_LISTEN: ':80' }),
    fails: ofVariables({ SVC_GREETER_LISTEN: 'everywhere' }),
  },
  'SVC-CONFIG-002': {
    passes: shown({ configFile: file('complete.yaml'), components: withCheck }),
    fails: shown({ configFile: file('incomplete.yaml'), components: withCheck }),
  },
  'SVC-CONFIG-003': {
    passes: ofVariables({ SVC_GREETER_LISTEN: ':80', SVC_SHOP_SERVICE_HOST: '10.0.0.1' }),
    fails: ofVariables({ SVC_GRETER_LISTEN: ':80' }),
  },
  'SVC-CONFIG-004': {
    passes: shown({ host: fakeHost() }),
    fails: shown({ host: fakeHost({ nodeVersion: 'v23.11.1' }) }),
  },
  'SVC-CONFIG-005': { passes: ofVariables({}), fails: ofVariables({ VAULT_SKIP_VERIFY: 'true' }) },
  'SVC-CONFIG-006': { passes: ofVariables(vault), fails: ofVariables({ VAULT_ADDR: 'http://vault.test' }) },
  'SVC-CONFIG-007': { passes: ofVariables(vault), fails: ofVariables({ VAULT_ADDR: 'https://vault.test' }) },
  'SVC-CONFIG-008': { passes: ofVariables({}), fails: ofVariables(vault) },
  'SVC-CONFIG-009': {
    passes: shown({ host: fakeHost() }),
    fails: shown({ host: fakeHost({ hasProgram: () => false }) }),
  },
};
