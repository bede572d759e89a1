import type { KeyObject } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { readIdentities } from '../../runtime/recovery-recipients/age-keys.ts';
import type { PartEntry } from '../format/body-format.ts';
import { EnvelopeError } from '../format/cipher.ts';
import type { KeyPurpose, ObjectName } from '../format/metadata.ts';
import { openPartRecovery, openRecovery, sealForRecovery, sealPartForRecovery } from '../format/recovery.ts';
import type { BoundKey, DataKeys, StoredKey, WrapScheme } from './data-keys.ts';

/** Wraps data keys and also seals those of single bodies, and seal keys, to recovery keys. */
export function withRecovery(keys: DataKeys, recipients: readonly KeyObject[]): DataKeys {
  if (recipients.length === 0) return keys;
  const { binding } = keys.scheme;
  type Item = { readonly key: Uint8Array; readonly purpose: StoredKey['purpose'] };
  const sealed = <T extends BoundKey>(name: ObjectName, { key, purpose }: Item, wrapped: T): T =>
    purpose.kind === 'part'
      ? wrapped
      : { ...wrapped, recovery: sealForRecovery(recipients, key, binding, name, purpose) };
  return {
    ...keys,
    recipients: recipients.length,
    async create(name, purposes, signal) {
      const fresh = await keys.create(name, purposes, signal);
      return fresh.map((one, index) =>
        sealed(name, { key: one.key, purpose: purposes[index] as Item['purpose'] }, one),
      );
    },
    async wrap(name, items, signal) {
      const wrapped = await keys.wrap(name, items, signal);
      return wrapped.map((one, index) => sealed(name, items[index] as Item, one));
    },
  };
}

/** Number of DEKs in the clear at a time. */
const window = 64;

/** The parts of an upload, with their DEKs sealed under its seal key if there are recovery keys. */
export async function recoverableParts(
  keys: DataKeys,
  upload: ObjectName & WrapScheme & { readonly manifest: string },
  parts: readonly PartEntry[],
  sealKey: Uint8Array,
): Promise<readonly PartEntry[]> {
  if (!keys.recipients) return parts;
  const entries: PartEntry[] = [];
  for (let start = 0; start < parts.length; start += window) {
    const some = parts.slice(start, start + window);
    const items = some.map(({ n, dek }) => ({
      wrapped: dek,
      purpose: { kind: 'part', upload: upload.manifest, number: n } as const,
    }));
    const deks = await keys.unwrap(upload, upload, items);
    for (const [index, part] of some.entries()) {
      const dek = deks[index] as Buffer;
      entries.push({ ...part, recovery: sealPartForRecovery(sealKey, upload.manifest, part.n, dek) });
      dek.fill(0);
    }
  }
  return entries;
}

/** Opens keys of stored objects with recovery keys. Calls no key server and wraps nothing. */
export function recoveryDataKeys(
  identities: readonly KeyObject[],
  { requireBound }: { readonly requireBound: boolean },
): DataKeys {
  const cannotWrap = () => Promise.reject(new TypeError('recovery keys wrap nothing'));

  /** Opens the DEK of an object or the seal key of an upload. */
  function open(name: ObjectName, { recovery, binding }: WrapScheme, purpose: OwnPurpose): Buffer {
    if (recovery === undefined) throw notRecoverable('the object is not sealed to any recovery key');
    const key = openRecovery(identities, recovery, binding, name, purpose);
    if (key === undefined) throw notRecoverable('none of the given recovery keys opens the object');
    return key;
  }

  return {
    scheme: { keyName: '', binding: 'key' },
    create: cannotWrap,
    wrap: cannotWrap,
    async unwrap(name, scheme, items) {
      if (requireBound && scheme.binding === 'none')
        throw new EnvelopeError(
          'unbound',
          "the object's key is not bound to its name and --require-bound is set",
        );
      const keys: Buffer[] = [];
      // opened once for all parts of an upload, because HPKE takes most of the time
      let seal: { readonly upload: string; readonly key: Buffer } | undefined;
      try {
        for (const { purpose, recovery } of items) {
          if (purpose.kind !== 'part') keys.push(open(name, scheme, purpose));
          else {
            const { upload } = purpose;
            if (seal?.upload !== upload) {
              seal?.key.fill(0);
              seal = { upload, key: open(name, scheme, { kind: 'seal', upload }) };
            }
            keys.push(openPart(seal.key, purpose, recovery));
          }
        }
        return keys;
      } catch (error) {
        for (const key of keys) key.fill(0);
        throw error;
      } finally {
        seal?.key.fill(0);
      }
    },
  };
}

type PartPurpose = Extract<KeyPurpose, { kind: 'part' }>;
type OwnPurpose = Exclude<KeyPurpose, PartPurpose>;

function openPart(sealKey: Buffer, { upload, number }: PartPurpose, recovery: StoredKey['recovery']): Buffer {
  const dek = recovery === undefined ? undefined : openPartRecovery(sealKey, upload, number, recovery);
  if (dek === undefined) throw notRecoverable(`part ${number} does not open under the seal key`);
  return dek;
}

const notRecoverable = (message: string) => new EnvelopeError('not-recoverable', message);

const longestFile = 64 * 1024;

/** @throws SvcError RECOVERY_KEY for a file that cannot be read or holds anything but private keys */
export function readRecoveryKeys(path: string): readonly KeyObject[] {
  const content = readWhole(path);
  try {
    const identities = readIdentities(content);
    if (identities !== undefined) return identities;
  } finally {
    content.fill(0);
  }
  throw recoveryKeyError(`${path} does not hold X25519 private keys`);
}

/** Reads into its own ArrayBuffer. Pipes work too, so that a key need not be stored on disk. */
function readWhole(path: string): Buffer {
  const content = Buffer.from(new ArrayBuffer(longestFile + 1));
  try {
    const file = openSync(path, 'r');
    try {
      let length = 0;
      for (let read = -1; read !== 0 && length < content.length; length += read)
        read = readSync(file, content, length, content.length - length, null);
      if (length > longestFile) throw recoveryKeyError(`${path} is too large for a file of keys`);
      return content.subarray(0, length);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    content.fill(0);
    if (error instanceof SvcError) throw error;
    throw recoveryKeyError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

const recoveryKeyError = (message: string) =>
  new SvcError('RECOVERY_KEY', message, {
    nextStep:
      'Name a file as age-keygen writes it (AGE-SECRET-KEY-1…), or one of 32 bytes, as they are or in base64.',
    exitStatus: exitStatus.config,
  });
