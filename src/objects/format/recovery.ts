import type { KeyObject } from 'node:crypto';
import { dekBytes, derivedKey, encryptBody, openWhole, overheadBytes } from './cipher.ts';
import { hpkeOpen, hpkeSeal } from './hpke.ts';
import {
  associatedData,
  type BindingMode,
  type KeyPurpose,
  type ObjectName,
  recoveryBlobLength,
} from './metadata.ts';

/*
 * Keys that the key server wraps may also be sealed to recovery keys, which are kept apart from it. The DEK of an
 * object in one piece, and the seal key of a part list, are sealed to each recipient; DEKs of parts are sealed under
 * the seal key, so that 10,000 parts take one blob for each recipient.
 */

const label = 'svc/recovery/1';

/** Binds a sealed key to its place and purpose, so that it does not open for another. */
const infoOf = (mode: BindingMode, name: ObjectName, purpose: KeyPurpose): Buffer =>
  Buffer.from(`${label}\n${associatedData(mode, name, purpose) ?? unboundText(purpose)}`);

const unboundText = (purpose: KeyPurpose): string =>
  JSON.stringify(purpose.kind === 'object' ? [purpose.kind] : [purpose.kind, purpose.upload]);

const separator = '.';

/** Value of `x-amz-meta-svc-recovery`: one blob for each recipient, in base64url, separated by `.`. */
export const sealForRecovery = (
  recipients: readonly KeyObject[],
  key: Uint8Array,
  mode: BindingMode,
  name: ObjectName,
  purpose: KeyPurpose,
): string =>
  recipients
    .map((recipient) => hpkeSeal(recipient, infoOf(mode, name, purpose), key).toString('base64url'))
    .join(separator);

/**
 * @returns the key, which the caller zeroes; undefined if no blob is for one of the identities, or it was sealed for
 *   another place
 */
export function openRecovery(
  identities: readonly KeyObject[],
  text: string,
  mode: BindingMode,
  name: ObjectName,
  purpose: KeyPurpose,
): Buffer | undefined {
  const info = infoOf(mode, name, purpose);
  for (const blob of text.split(separator))
    for (const identity of identities) {
      const key = hpkeOpen(identity, info, Buffer.from(blob, 'base64url'));
      if (key?.length === dekBytes) return key;
    }
  return undefined;
}

/** Number of recipients that a value is sealed to. */
export const recipientsOf = (text: string): number => text.split(separator).length;

/** Bytes of user metadata that the header takes, including its name. */
export const recoverySize = (recipients: number): number =>
  recipients === 0 ? 0 : 'svc-recovery'.length + recipients * (recoveryBlobLength + 1) - 1;

const partLabel = 'svc/recovery-part/1';
const partAssociated = (upload: string, number: number): Buffer =>
  Buffer.from(`${partLabel}\n${upload} ${number}\n`);

/** Seals a part's DEK under the seal key: base64url of `nonce || ciphertext || tag`. */
export function sealPartForRecovery(
  sealKey: Uint8Array,
  upload: string,
  number: number,
  dek: Uint8Array,
): string {
  const key = derivedKey(sealKey, partLabel);
  const { nonce, update, finish } = encryptBody(key, partAssociated(upload, number));
  const text = Buffer.concat([nonce, update(dek), finish()]).toString('base64url');
  key.fill(0);
  return text;
}

/** @returns the DEK, which the caller zeroes; undefined unless it was sealed under this key for this part */
export function openPartRecovery(
  sealKey: Uint8Array,
  upload: string,
  number: number,
  text: string,
): Buffer | undefined {
  const sealed = Buffer.from(text, 'base64url');
  if (sealed.length !== dekBytes + overheadBytes) return undefined;
  const key = derivedKey(sealKey, partLabel);
  try {
    return openWhole(sealed, key, partAssociated(upload, number));
  } catch {
    return undefined;
  } finally {
    key.fill(0);
  }
}
