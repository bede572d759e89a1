import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isCanonicalBase64, parseWrappedKey } from '../../../core/vault/wrapped-key.ts';
import { Refusal } from './refusal.ts';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** How a transit key is kept; `versions` in base64, version 1 first. */
export interface StoredTransitKey {
  readonly created: string;
  readonly versions: readonly string[];
  readonly minDecryptionVersion: number;
}

/** A key of the transit engine, type `aes256-gcm96`: versions of AES-256-GCM, the latest encrypts. */
export class TransitKey {
  readonly created: string;
  #versions: Buffer[];
  #minDecryptionVersion: number;

  constructor(stored?: StoredTransitKey) {
    this.created = stored?.created ?? new Date().toISOString();
    this.#versions = stored?.versions.map((text) => Buffer.from(text, 'base64')) ?? [randomBytes(keyBytes)];
    this.#minDecryptionVersion = stored?.minDecryptionVersion ?? 1;
  }

  get latest(): number {
    return this.#versions.length;
  }

  get minDecryptionVersion(): number {
    return this.#minDecryptionVersion;
  }

  rotate(): void {
    this.#versions.push(randomBytes(keyBytes));
  }

  /** @throws Refusal for a version that does not exist */
  setMinDecryptionVersion(version: number): void {
    if (!Number.isInteger(version) || version < 0 || version > this.latest)
      throw new Refusal(
        400,
        `cannot set min decryption version of ${version}, latest key version is ${this.latest}`,
      );
    this.#minDecryptionVersion = Math.max(1, version);
  }

  /** `vault:v<latest>:<base64 of nonce, ciphertext and tag>` */
  encrypt(plaintext: Buffer, associatedData: Buffer): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#version(this.latest), nonce).setAAD(associatedData);
    const body = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    return `vault:v${this.latest}:${body.toString('base64')}`;
  }

  /** @throws Refusal for what this key did not make, or not with that associated data */
  decrypt(ciphertext: string, associatedData: Buffer): Buffer {
    const { keyVersion, payload } = readCiphertext(ciphertext);
    if (keyVersion > this.latest) throw new Refusal(400, 'invalid ciphertext: version is too new');
    if (keyVersion < this.#minDecryptionVersion)
      throw new Refusal(400, 'ciphertext or signature version is disallowed by policy (too old)');
    return open(this.#version(keyVersion), Buffer.from(payload, 'base64'), associatedData);
  }

  toJSON(): StoredTransitKey {
    return {
      created: this.created,
      versions: this.#versions.map((key) => key.toString('base64')),
      minDecryptionVersion: this.#minDecryptionVersion,
    };
  }

  #version(version: number): Buffer {
    return this.#versions[version - 1] as Buffer;
  }
}

function readCiphertext(text: string) {
  if (!text.startsWith('vault:v')) throw new Refusal(400, 'invalid ciphertext: no prefix');
  const parsed = parseWrappedKey(text);
  if (parsed) return parsed;
  const [, version, payload] = /^vault:v([1-9]\d{0,8}):(.+)$/.exec(text) ?? [];
  if (version === undefined || payload === undefined || !isCanonicalBase64(payload))
    throw new Refusal(400, 'invalid ciphertext: could not decode base64');
  return { keyVersion: Number(version), payload };
}

function open(key: Buffer, body: Buffer, associatedData: Buffer): Buffer {
  if (body.length < nonceBytes + tagBytes) throw new Refusal(400, 'invalid ciphertext length');
  const decipher = createDecipheriv(algorithm, key, body.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(associatedData)
    .setAuthTag(body.subarray(-tagBytes));
  const plaintext = decipher.update(body.subarray(nonceBytes, -tagBytes));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    throw new Refusal(400, 'cipher: message authentication failed');
  } finally {
    plaintext.fill(0);
  }
}
