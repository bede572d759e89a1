import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isCanonicalBase64, parseWrappedKey } from '../../../keyserver/transit-messages.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { writeAtomically } from '../atomic-file.ts';
import { KeyRefusal, noSuchPath } from './access.ts';

type Keys = Map<string, TransitKey>;

/** The mounted transit engines and their keys; every change is saved before it is answered. */
export class TransitMounts {
  readonly #mounts = new Map<string, Keys>();
  readonly #file: KeyFile;

  constructor(file: KeyFile) {
    this.#file = file;
    for (const [mount, keys] of Object.entries(file.load())) {
      const read = Object.entries(keys).map(([name, stored]) => [name, new TransitKey(stored)] as const);
      this.#mounts.set(mount, new Map(read));
    }
  }

  names(): string[] {
    return [...this.#mounts.keys()];
  }

  mount(path: string): void {
    if (this.#mounts.has(path)) throw new KeyRefusal(400, `path is already in use at ${path}/`);
    this.#mounts.set(path, new Map());
    this.#save();
  }

  /** Splits a path below a mount. @throws KeyRefusal 404 */
  resolve(path: string): { readonly mount: string; readonly rest: readonly string[] } {
    const mount = this.names().find((name) => path.startsWith(`${name}/`));
    if (mount === undefined) throw noSuchPath();
    return {
      mount,
      rest: path
        .slice(mount.length + 1)
        .split('/')
        .map(decodeURIComponent),
    };
  }

  find(mount: string, name: string): TransitKey | undefined {
    return this.#mounts.get(mount)?.get(name);
  }

  /** @throws KeyRefusal 400, as the real engine answers */
  key(mount: string, name: string): TransitKey {
    const key = this.find(mount, name);
    if (key === undefined) throw new KeyRefusal(400, 'encryption key not found');
    return key;
  }

  /** Creates the key unless it exists. */
  create(mount: string, name: string): TransitKey {
    const key = this.find(mount, name) ?? new TransitKey();
    this.#mounts.get(mount)?.set(name, key);
    this.#save();
    return key;
  }

  change(mount: string, name: string, edit: (key: TransitKey) => void): void {
    edit(this.key(mount, name));
    this.#save();
  }

  #save(): void {
    const mounts = [...this.#mounts].map(([mount, keys]) => [mount, Object.fromEntries(keys)]);
    this.#file.save(Object.fromEntries(mounts));
  }
}

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** The stored form of a transit key; `versions` in base64, version 1 first. */
interface StoredTransitKey {
  readonly created: string;
  readonly versions: readonly string[];
  readonly minDecryptionVersion: number;
}

/** A transit key of type `aes256-gcm96`: versions of an AES-256-GCM key, of which the latest encrypts. */
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

  /** @throws KeyRefusal for a version that does not exist */
  setMinDecryptionVersion(version: number): void {
    if (!Number.isInteger(version) || version < 0 || version > this.latest)
      throw new KeyRefusal(
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

  /** @throws KeyRefusal for ciphertext of another key or with other associated data */
  decrypt(ciphertext: string, associatedData: Buffer): Buffer {
    const { keyVersion, payload } = readCiphertext(ciphertext);
    if (keyVersion > this.latest) throw new KeyRefusal(400, 'invalid ciphertext: version is too new');
    if (keyVersion < this.#minDecryptionVersion)
      throw new KeyRefusal(400, 'ciphertext or signature version is disallowed by policy (too old)');
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
  if (!text.startsWith('vault:v')) throw new KeyRefusal(400, 'invalid ciphertext: no prefix');
  const parsed = parseWrappedKey(text);
  if (parsed) return parsed;
  const [, version, payload] = /^vault:v([1-9]\d{0,8}):(.+)$/.exec(text) ?? [];
  if (version === undefined || payload === undefined || !isCanonicalBase64(payload))
    throw new KeyRefusal(400, 'invalid ciphertext: could not decode base64');
  return { keyVersion: Number(version), payload };
}

function open(key: Buffer, body: Buffer, associatedData: Buffer): Buffer {
  if (body.length < nonceBytes + tagBytes) throw new KeyRefusal(400, 'invalid ciphertext length');
  const decipher = createDecipheriv(algorithm, key, body.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(associatedData)
    .setAuthTag(body.subarray(-tagBytes));
  const plaintext = decipher.update(body.subarray(nonceBytes, -tagBytes));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    throw new KeyRefusal(400, 'cipher: message authentication failed');
  } finally {
    plaintext.fill(0);
  }
}

/** Keys by name, of each mounted transit engine. */
export type StoredMounts = Readonly<Record<string, Readonly<Record<string, StoredTransitKey>>>>;

/** Keeps mounts and keys beyond the process. */
export interface KeyFile {
  load(): StoredMounts;
  save(mounts: unknown): void;
}

const warning = 'Keys of svc dev, in the clear: for development only.';

/** Nothing outlives the process. */
export const noKeyFile: KeyFile = { load: () => ({}), save: () => undefined };

/** Keys in a file that only its owner can read. */
export function keyFile(path: string): KeyFile {
  return {
    load: () => read(path),
    save: (mounts) => writeAtomically(path, `${JSON.stringify({ warning, mounts }, undefined, 2)}\n`),
  };
}

/**
 * @throws SvcError DEV_KEYS if the file exists and cannot be used: it is not replaced, because its keys may be needed
 */
function read(path: string): StoredMounts {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).mounts;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new SvcError('DEV_KEYS', `The development keys in ${path} cannot be read`, {
      nextStep: 'Fix the file or move it away; without its keys the objects beside it cannot be read.',
      exitStatus: exitStatus.config,
      cause,
    });
  }
}
