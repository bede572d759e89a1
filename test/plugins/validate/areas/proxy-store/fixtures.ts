import type { Fixture, Fixtures } from '../../fixture.ts';
import { type FakeStore, fakeStore } from '../../store/fake-store.ts';

const shown =
  (changes: Partial<FakeStore> = {}) =>
  (): Fixture => ({ store: async () => fakeStore(changes).store });

const failing = (changes: Partial<FakeStore>) => ({ passes: shown(), fails: shown(changes) });
const facts = { versioning: 'Enabled', blocksPublicAccess: true, isPublic: false } as const;

export const fixtures: Fixtures = {
  'SVC-STORE-001': failing({ hasBucket: false }),
  'SVC-STORE-002': failing({ encrypted: (body) => ({ body, metadata: {} }) }),
  'SVC-STORE-003': failing({ decrypted: () => Buffer.from('something else') }),
  'SVC-STORE-004': failing({ facts: { ...facts, versioning: 'off' } }),
  'SVC-STORE-005': failing({ facts: { ...facts, isPublic: true } }),
};
