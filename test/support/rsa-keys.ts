import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Generating one takes up to half a second of a processor, which three hundred suites need not spend again. */
const KEPT = fileURLToPath(new URL('../../node_modules/.cache/svc-test-keys/', import.meta.url));
let given = 0;

/** @returns PEM (PKCS #1) of an RSA 2048 key: another one with each call of a process, the same ones in the next process */
export function testRsaKey(): string {
  const path = `${KEPT}${given++}.pem`;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return keep(path, generate());
  }
}

function generate(): string {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  }).privateKey;
}

function keep(path: string, key: string): string {
  mkdirSync(KEPT, { recursive: true });
  const own = `${path}.${process.pid}`;
  writeFileSync(own, key, { mode: 0o600 });
  renameSync(own, path);
  return key;
}
