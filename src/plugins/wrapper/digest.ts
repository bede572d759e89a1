import { createHmac, randomBytes } from 'node:crypto';
import type { SecretEntry } from '../../runtime/protocols/secret-records/region-writer.ts';

/**
 * Distinguishes sets of secrets without keeping them. The key is random and stays in the wrapper's memory, so a
 * leaked digest does not help to verify a guessed value.
 */
export function createDigest(key: Uint8Array = randomBytes(32)): (entries: readonly SecretEntry[]) => string {
  return (entries) => {
    const hmac = createHmac('sha256', key);
    for (const { key: name, value } of [...entries].sort(byKey)) {
      hmac.update(`${Buffer.byteLength(name)} ${value.length} ${name}`).update(value);
    }
    return hmac.digest('base64');
  };
}

const byKey = (a: SecretEntry, b: SecretEntry): number => (a.key < b.key ? -1 : 1);
