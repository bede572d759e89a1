import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';

const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** BIP 173, as age has its keys. */
export function bech32(prefix: string, bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g)?.map((group) => Number.parseInt(group.padEnd(5, '0'), 2)) ?? [];
  const letters = [...prefix].map((letter) => letter.charCodeAt(0));
  const expanded = [...letters.map((code) => code >> 5), 0, ...letters.map((code) => code & 31)];
  const rest = polymod([...expanded, ...groups, 0, 0, 0, 0, 0, 0]) ^ 1;
  const checksum = [0, 1, 2, 3, 4, 5].map((index) => (rest >> (5 * (5 - index))) & 31);
  return `${prefix}1${[...groups, ...checksum].map((group) => alphabet[group]).join('')}`;
}

function polymod(groups: readonly number[]): number {
  const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  return groups.reduce((sum, group) => {
    const shifted = ((sum & 0x1ffffff) << 5) ^ group;
    return generators.reduce((all, one, bit) => ((sum >> (25 + bit)) & 1 ? all ^ one : all), shifted);
  }, 1);
}

export interface AgeKey {
  /** `age1…` */
  readonly recipient: string;
  /** `AGE-SECRET-KEY-1…` */
  readonly identity: string;
  readonly rawPublic: Buffer;
  readonly rawPrivate: Buffer;
  /** Writes it as `age-keygen` does. */
  write(path: string): string;
}

export function ageKey(): AgeKey {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const rawPublic = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const rawPrivate = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const recipient = bech32('age', rawPublic);
  const identity = bech32('age-secret-key-', rawPrivate).toUpperCase();
  return {
    ...{ recipient, identity, rawPublic, rawPrivate },
    write(path) {
      writeFileSync(path, `# created: 2026-11-25T00:00:00Z\n# public key: ${recipient}\n${identity}\n`, {
        mode: 0o600,
      });
      return path;
    },
  };
}
