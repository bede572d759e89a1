import { createCipheriv, hkdfSync } from 'node:crypto';

/*
 * Format 2 once more, from docs/FORMAT.md alone: nothing of `src` is used here.
 */

const segment = 65_536;

interface OracleBody {
  readonly stored: Buffer;
  readonly commitment: string;
}

/** @param salt base64url @param part 0: an object in one piece */
export function oracleBody(dek: Buffer, salt: string, part: number, plaintext: Buffer): OracleBody {
  const key = derived(dek, Buffer.from(salt, 'base64url'), `svc/2/key\n${part}\n`);
  const commitment = derived(
    dek,
    Buffer.from(salt, 'base64url'),
    `svc/2/commitment\n${part}\n${plaintext.length}\n`,
  );
  const count = Math.ceil(plaintext.length / segment);
  const pieces = Array.from({ length: count }, (_, index) =>
    sealed(key, part, index, index === count - 1, plaintext.subarray(index * segment, (index + 1) * segment)),
  );
  return { stored: Buffer.concat(pieces), commitment: commitment.toString('base64url') };
}

export const derived = (dek: Buffer, salt: Buffer, info: string): Buffer =>
  Buffer.from(hkdfSync('sha512', dek, salt, info, 32));

function sealed(key: Buffer, part: number, index: number, last: boolean, plaintext: Buffer): Buffer {
  const nonce = Buffer.from(index.toString(16).padStart(22, '0') + (last ? '01' : '00'), 'hex');
  const associated = Buffer.concat([
    Buffer.from('svc/2\n'),
    Buffer.from(part.toString(16).padStart(4, '0'), 'hex'),
    Buffer.from(index.toString(16).padStart(16, '0'), 'hex'),
  ]);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 }).setAAD(associated);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}
