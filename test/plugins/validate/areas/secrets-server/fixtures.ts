import { VaultError } from '../../../../../src/keyserver/contract.ts';
import type { Fixture, Fixtures } from '../../fixture.ts';
import { configOf } from '../../test-context.ts';
import { type FakeVault, fakeVault, healthy, inDays } from '../../vault/fake-vault.ts';

const variables = {
  VAULT_ADDR: 'https://vault.test:8200',
  VAULT_AUTH_ROLE: 'shop',
  SVC_SECRET_PATHS: 'secret/shop',
};

const shown =
  (changes: Partial<FakeVault> = {}) =>
  (): Fixture => ({ config: configOf(variables), vault: async () => fakeVault(changes) });

const passes = shown();
const answering = (answers: FakeVault['answers']) => ({ passes, fails: shown({ answers }) });

const away = (): Fixture => ({
  vault: async () => ({
    ...fakeVault(),
    anonymous: {
      ask: async () => {
        throw new VaultError('unavailable', 'No answer from vault.test:8200: ECONNREFUSED');
      },
    },
  }),
});

export const fixtures: Fixtures = {
  'SVC-VAULT-001': { passes, fails: away },
  'SVC-VAULT-002': answering({ 'sys/seal-status': { initialized: true, sealed: true } }),
  'SVC-VAULT-003': answering({ 'sys/health': 472 }),
  'SVC-VAULT-004': {
    passes,
    fails: shown({
      certificate: { problem: 'SELF_SIGNED_CERT_IN_CHAIN', validTo: inDays(100), subject: 'CN=vault.test' },
    }),
  },
  'SVC-VAULT-005': {
    passes,
    fails: shown({ certificate: { problem: undefined, validTo: inDays(10), subject: 'CN=vault.test' } }),
  },
  'SVC-VAULT-006': {
    passes,
    fails: shown({ refusal: new VaultError('denied', 'The key server refuses it') }),
  },
  'SVC-VAULT-007': answering({
    'auth/kubernetes/role/shop': {
      data: { bound_service_account_names: ['*'], bound_service_account_namespaces: ['shop'] },
    },
  }),
  'SVC-VAULT-008': { passes, fails: shown({ capabilities: { 'transit/encrypt/svc': ['update'] } }) },
  'SVC-VAULT-009': {
    passes,
    fails: shown({ capabilities: { ...healthy.capabilities, 'transit/keys/svc': ['read'] } }),
  },
  'SVC-VAULT-010': answering({ 'transit/decrypt/svc': { data: { plaintext: 'AAAA' } } }),
  'SVC-VAULT-011': answering({ 'secret/data/shop': 404 }),
  'SVC-VAULT-012': answering({
    'sys/internal/ui/mounts/secret/shop': { data: { path: 'secret/', type: 'kv', options: null } },
  }),
};
