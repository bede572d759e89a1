import { encryptedHeader } from '../../src/objects/format/metadata.ts';

/** A key as the key server wraps it, which no key server unwraps. */
export const wrappedKey = `vault:v1:${Buffer.alloc(60, 1).toString('base64')}`;

/**
 * The head of an encrypted object of a store that lies.
 * @param keys `wrapped-dek`
 * @param keyName another one than the proxy's has it look for a record of rewrapped keys
 */
export const lyingEnvelope = (keys: string, keyName = 'svc'): Readonly<Record<string, string>> => ({
  [encryptedHeader]: 'true',
  'x-amz-meta-svc-wrapped-dek': keys,
  'x-amz-meta-svc-algorithm': 'AES-256-GCM',
  'x-amz-meta-svc-key-name': keyName,
  'x-amz-meta-svc-key-version': '1',
  etag: '"a-2"',
});

/** Keys that name a manifest. */
export const manifestPointer = JSON.stringify({
  v: 1,
  manifest: Buffer.alloc(16, 1).toString('base64url'),
  seal: wrappedKey,
});
