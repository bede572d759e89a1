import type { Headers } from '../../../../src/objects/format/metadata.ts';
import type { CommandStore, Head } from '../../../../src/plugins/bulk/engine/command-store.ts';

export const encryptedHeaders = (version = 1, keyName = 'svc'): Headers => ({
  'x-amz-meta-svc-encrypted': 'true',
  'x-amz-meta-svc-wrapped-dek': `vault:v${version}:AAAA`,
  'x-amz-meta-svc-algorithm': 'AES-256-GCM',
  'x-amz-meta-svc-key-name': keyName,
  'x-amz-meta-svc-key-version': String(version),
});

export interface FakeObject {
  readonly key: string;
  readonly size?: number;
  readonly head: Head;
}

export const encrypted = (key: string, version = 1): FakeObject => ({
  key,
  head: { found: true, headers: encryptedHeaders(version) },
});

export const plain = (key: string): FakeObject => ({ key, head: { found: true, headers: {} } });

/** A store in memory with pages of a few keys, which fails when it is told to. */
export function fakeStore(objects: readonly FakeObject[], pageSize = 3) {
  const sorted = [...objects].sort((a, b) => (a.key < b.key ? -1 : 1));
  const heads: string[] = [];
  const store: Pick<CommandStore, 'list' | 'head'> & { heads: string[]; failAtHead: number } = {
    heads,
    failAtHead: Number.POSITIVE_INFINITY,
    async *list(_bucket, _prefix, { after } = {}) {
      const rest = sorted.filter(({ key }) => after === undefined || key > after);
      for (let at = 0; at < rest.length; at += pageSize)
        yield rest.slice(at, at + pageSize).map(({ key, size = 100 }) => ({ key, size, modified: 0 }));
    },
    async head({ key }) {
      heads.push(key);
      if (heads.length > store.failAtHead) throw new Error('the store is away');
      return sorted.find((one) => one.key === key)?.head ?? { found: false };
    },
  };
  return store;
}
