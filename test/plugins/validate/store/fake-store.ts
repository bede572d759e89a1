import type {
  CheckedBucket,
  FetchedObject,
  S3Endpoint,
  StoreAccess,
} from '../../../../src/plugins/validate/check.ts';

export interface FakeStore {
  /** What the store holds after the proxy was given a body. */
  readonly encrypted: (body: Buffer) => Pick<FetchedObject, 'body' | 'metadata'>;
  readonly decrypted: (stored: Buffer) => Buffer;
  readonly hasBucket: boolean;
  readonly facts: CheckedBucket;
  readonly address: URL;
}

const encrypted = (body: Buffer) => ({
  body: Buffer.concat([Buffer.alloc(12), Buffer.from(body.map((byte) => byte ^ 0xff)), Buffer.alloc(16)]),
  metadata: { 'svc-encrypted': 'true', 'svc-key-version': '1' },
});

const healthy: FakeStore = {
  encrypted,
  decrypted: (stored) => Buffer.from(stored.subarray(12, -16).map((byte) => byte ^ 0xff)),
  hasBucket: true,
  facts: { versioning: 'Enabled', blocksPublicAccess: true, isPublic: false },
  address: new URL('https://s3.test'),
};

/** A store and a proxy that does as the real one with another cipher; `objects` is what is left in it. */
export function fakeStore(changes: Partial<FakeStore> = {}) {
  const facts = { ...healthy, ...changes };
  const objects = new Map<string, FetchedObject>();
  const direct: S3Endpoint = {
    host: facts.address.host,
    put: async (key, body) => void objects.set(key, { body, metadata: {}, version: '1' }),
    get: async (key) => {
      const found = objects.get(key);
      if (found === undefined) throw Object.assign(new Error(), { $metadata: { httpStatusCode: 404 } });
      return found;
    },
    remove: async (key) => void objects.delete(key),
    hasBucket: async () => facts.hasBucket,
  };
  const proxied: S3Endpoint = {
    ...direct,
    put: async (key, body) => void objects.set(key, { ...facts.encrypted(body), version: '1' }),
    get: async (key, signal) => {
      const found = await direct.get(key, signal);
      return { ...found, body: facts.decrypted(found.body) };
    },
  };
  const store: StoreAccess = {
    bucket: 'photos',
    address: facts.address,
    direct,
    proxied: async () => proxied,
    facts: async () => facts.facts,
  };
  return { store, objects, proxied };
}
