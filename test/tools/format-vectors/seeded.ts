import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import {
  rawPublicKey,
  x25519PrivateKey,
  x25519PublicKey,
} from '../../../src/runtime/recovery-recipients/x25519.ts';

/** Bytes that follow from a label alone. */
export function seededBytes(label: string, length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHash('sha256').update(`svc format vectors\n${label}\n${index}\n`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
}

/**
 * Runs code of `src` whose random bytes follow from a label, so that it writes the same each time: keys and nonces are
 * drawn from `node:crypto` there, and from nowhere else. Key pairs are X25519.
 */
export function seeded<T>(label: string, run: () => T): T {
  const { randomBytes, generateKeyPairSync } = crypto;
  let drawn = 0;
  const draw = (length: number) => seededBytes(`${label} ${drawn++}`, length);
  crypto.randomBytes = draw as typeof randomBytes;
  crypto.generateKeyPairSync = (() => {
    const privateKey = x25519PrivateKey(draw(32));
    return { privateKey, publicKey: x25519PublicKey(rawPublicKey(privateKey)) };
  }) as unknown as typeof generateKeyPairSync;
  syncBuiltinESMExports();
  try {
    return run();
  } finally {
    crypto.randomBytes = randomBytes;
    crypto.generateKeyPairSync = generateKeyPairSync;
    syncBuiltinESMExports();
  }
}
