import { createHmac, randomBytes } from 'node:crypto';
import type { SecretEntry } from '../../../core/secret-records/entry.ts';

/**
 * Tells one set of secrets from another without keeping it. The key is random and lives in this process only, so
 * that a digest which leaks says nothing about a value that could be guessed.
 */
export function createDigest(): (entries: readonly SecretEntry[]) => string {
  const key = randomBytes(32);
  return (entries) => {
    const hmac = createHmac('sha256', key);
    for (const { key: name, value } of [...entries].sort(byKey)) {
      hmac.update(`${Buffer.byteLength(name)} ${value.length} ${name}`).update(value);
    }
    return hmac.digest('base64');
  };
}

const byKey = (a: SecretEntry, b: SecretEntry): number => (a.key < b.key ? -1 : 1);
