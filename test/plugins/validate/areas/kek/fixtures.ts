import type { Fixture, Fixtures } from '../../fixture.ts';
import { fakeVault, healthy } from '../../vault/fake-vault.ts';

const path = 'transit/keys/svc';
const key = healthy.answers[path] as { readonly data: Readonly<Record<string, unknown>> };

const shown =
  (changes: Readonly<Record<string, unknown>> = {}) =>
  (): Fixture => ({
    vault: async () => fakeVault({ answers: { [path]: { data: { ...key.data, ...changes } } } }),
  });

const failing = (changes: Readonly<Record<string, unknown>>) => ({ passes: shown(), fails: shown(changes) });

export const fixtures: Fixtures = {
  'SVC-KEK-001': failing({ type: 'chacha20-poly1305' }),
  'SVC-KEK-002': failing({ exportable: true }),
  'SVC-KEK-003': failing({ allow_plaintext_backup: true }),
  'SVC-KEK-004': failing({ keys: { 2: Date.UTC(2025, 8, 30) / 1_000 } }),
  'SVC-KEK-005': failing({ deletion_allowed: true }),
  'SVC-KEK-006': failing({ min_decryption_version: 2 }),
  'SVC-KEK-007': failing({ derived: true }),
};
