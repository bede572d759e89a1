import { parseBounded } from '../../runtime/bounds/bounded-json.ts';
import type { BodyFormat, EnvelopeFormat } from './body-format.ts';
import { type Derivation, isDerivationText } from './body-keys.ts';
import { EnvelopeError, overheadBytes } from './cipher.ts';
import { bodyFormat, formatField, formatNamed } from './formats.ts';
import { isManifestId, readPartList, type StoredPartList, serializePartList } from './manifest.ts';
import { type EnvelopeChecksum, readChecksum, serializeChecksum } from './sealed-checksums.ts';

/** Response or request headers, names in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export const metadataPrefix = 'x-amz-meta-svc-';
export const encryptedHeader = 'x-amz-meta-svc-encrypted';
export const wrappedDekHeader = 'x-amz-meta-svc-wrapped-dek';
const algorithmHeader = 'x-amz-meta-svc-algorithm';
const keyNameHeader = 'x-amz-meta-svc-key-name';
const keyVersionHeader = 'x-amz-meta-svc-key-version';
const bindingHeader = 'x-amz-meta-svc-binding';
const sealHeader = 'x-amz-meta-svc-empty-seal';
export const checksumHeader = 'x-amz-meta-svc-checksum';
const derivationHeader = 'x-amz-meta-svc-derivation';
const md5Header = 'x-amz-meta-svc-md5';
const recoveryHeader = 'x-amz-meta-svc-recovery';
const required = [encryptedHeader, wrappedDekHeader, algorithmHeader, keyNameHeader, keyVersionHeader];
const known = [...required, bindingHeader, sealHeader, checksumHeader, derivationHeader, recoveryHeader];

/**
 * A header's name as a store may read it that maps names to environment variables (CGI, WSGI), where `_`, `.` and
 * similar characters equal `-`, and case does not matter.
 */
export const foldedName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, '-');

/** Whether a header is ours in any spelling, such as `x-amz-meta-svc_encrypted` or `x-amz-meta--svc.owner`. */
export const isReservedMetadata = (name: string): boolean => foldedName(name).startsWith(metadataPrefix);

/** The three forms of `x-amz-meta-svc-wrapped-dek`. */
export type WrappedKeys =
  | { readonly form: 'single'; readonly dek: string }
  | { readonly form: 'inline'; readonly list: StoredPartList }
  | { readonly form: 'pointer'; readonly manifest: string; readonly seal: string };

/** The parsed svc headers of an object. */
export interface Envelope {
  /** Absent: 1. */
  readonly format?: EnvelopeFormat;
  readonly keys: WrappedKeys;
  readonly keyName: string;
  /** Version of the KEK; for multipart objects the one that wraps the seal key. */
  readonly keyVersion: number;
  readonly binding: BindingMode;
  /** Base64 nonce and tag of an empty plaintext whose stored body is empty. */
  readonly emptySeal?: string;
  /** Derivation of a single body in format 2. */
  readonly derivation?: Derivation;
  /** Checksum of the plaintext, if one is kept. */
  readonly checksum?: EnvelopeChecksum;
  /** The MD5 that the caller named, sealed by `sealMd5`. */
  readonly md5?: string;
  /** The DEK or seal key, sealed by `sealForRecovery`, if there are recovery keys. */
  readonly recovery?: string;
}

/**
 * Stores with real folders treat a key that ends in a slash as a folder, which has no body. For such keys, format 1
 * keeps the seal of an empty plaintext in the metadata.
 */
export const hasNoBody = (key: string, size: number): boolean => size === 0 && key.endsWith('/');

/** Whether an object's body is stored as a seal in its metadata. */
export const hasAside = ({ derived }: BodyFormat, key: string, size: number): boolean =>
  !derived && hasNoBody(key, size);

/** @returns the headers to store; as specified, binding `none` has no header */
export function envelopeHeaders(envelope: Envelope): Record<string, string> {
  const headers: Record<string, string> = {
    [encryptedHeader]: 'true',
    [wrappedDekHeader]: serializeKeys(envelope),
    [algorithmHeader]: bodyFormat(envelope.format).algorithm,
    [keyNameHeader]: envelope.keyName,
    [keyVersionHeader]: String(envelope.keyVersion),
  };
  if (envelope.binding !== 'none') headers[bindingHeader] = envelope.binding;
  if (envelope.emptySeal !== undefined) headers[sealHeader] = envelope.emptySeal;
  if (envelope.derivation !== undefined)
    headers[derivationHeader] = `${envelope.derivation.salt}.${envelope.derivation.commitment}`;
  if (envelope.checksum !== undefined) headers[checksumHeader] = serializeChecksum(envelope.checksum);
  if (envelope.recovery !== undefined) headers[recoveryHeader] = envelope.recovery;
  return { ...headers, ...md5Headers(envelope) };
}

export const md5Headers = ({ md5 }: Pick<Envelope, 'md5'>): Record<string, string> =>
  md5 === undefined ? {} : { [md5Header]: md5 };

/** The recovery header of a HEAD response, which stays valid when an envelope is rewritten with the same keys. */
export const recoveryHeaders = (headers: Headers): Record<string, string> => {
  const value = headers[recoveryHeader];
  return typeof value === 'string' ? { [recoveryHeader]: value } : {};
};

export function serializeKeys({ format, keys }: Pick<Envelope, 'format' | 'keys'>): string {
  if (keys.form === 'single') return keys.dek;
  if (keys.form === 'inline') return serializePartList(keys.list);
  return JSON.stringify({ v: bodyFormat(format).id, manifest: keys.manifest, seal: keys.seal });
}

/**
 * @returns undefined for an object without any of these headers; other `x-amz-meta-svc-…` headers, such as those of a
 *   tool that writes to the store directly, are ignored
 * @throws EnvelopeError `partial-metadata` for an incomplete set, `malformed-metadata` for values that svc never writes
 */
export function readEnvelope(headers: Headers): Envelope | undefined {
  if (!hasEnvelope(headers)) return undefined;
  const missing = required.filter((name) => typeof headers[name] !== 'string');
  if (missing.length > 0)
    throw new EnvelopeError(
      'partial-metadata',
      `the object's svc metadata is incomplete: ${missing.join(', ')} missing`,
    );
  const value = (name: string) => headers[name] as string;
  if (value(encryptedHeader) !== 'true') throw malformed(encryptedHeader);
  const format = readFormat(value(algorithmHeader));
  const keys = readKeys(value(wrappedDekHeader), format.id);
  const keyVersion = versionOf(keys);
  if (value(keyVersionHeader) !== String(keyVersion)) throw malformed(keyVersionHeader);
  const emptySeal = readSeal(headers[sealHeader], keys, format);
  const derivation = readDerivation(headers[derivationHeader], keys, format);
  const binding = readBinding(headers[bindingHeader]);
  const checksum = readKept(headers[checksumHeader], keys);
  const md5 = readMd5(headers[md5Header]);
  const recovery = readRecovery(headers[recoveryHeader]);
  return {
    ...formatField(format.id),
    keys,
    keyName: value(keyNameHeader),
    keyVersion,
    binding,
    ...(emptySeal !== undefined && { emptySeal }),
    ...(derivation !== undefined && { derivation }),
    ...(checksum !== undefined && { checksum }),
    ...(md5 !== undefined && { md5 }),
    ...(recovery !== undefined && { recovery }),
  };
}

/** @returns true if any header of the envelope is present, even in an incomplete set */
export const hasEnvelope = (headers: Headers): boolean => known.some((name) => headers[name] !== undefined);

/** Whether a header belongs to an envelope; other `x-amz-meta-svc-…` headers do not. */
export const isEnvelopeHeader = (name: string): boolean => known.includes(name) || name === md5Header;

function readBinding(value: string | string[] | undefined): BindingMode {
  if (value === undefined) return 'none';
  if (value === 'key' || value === 'bucket-key') return value;
  throw malformed(bindingHeader);
}

function readFormat(value: string): BodyFormat {
  const format = formatNamed(value);
  if (format !== undefined) return format;
  throw new EnvelopeError(
    'malformed-metadata',
    `${algorithmHeader} names no format that this build reads: it was changed, or a later build wrote the object`,
  );
}

/** @throws EnvelopeError `partial-metadata` if a body in format 2 has none */
function readDerivation(
  value: string | string[] | undefined,
  { form }: WrappedKeys,
  { derived }: BodyFormat,
): Derivation | undefined {
  const expected = derived && form === 'single';
  if (value === undefined && !expected) return undefined;
  if (value === undefined)
    throw new EnvelopeError(
      'partial-metadata',
      `the object's svc metadata is incomplete: ${derivationHeader} missing`,
    );
  const [salt, commitment, ...more] = typeof value === 'string' ? value.split('.') : [];
  if (!expected || !isDerivationText(salt) || !isDerivationText(commitment) || more.length > 0)
    throw malformed(derivationHeader);
  return { salt, commitment };
}

function readSeal(
  value: string | string[] | undefined,
  { form }: WrappedKeys,
  { derived }: BodyFormat,
): string | undefined {
  if (value === undefined) return undefined;
  if (derived) throw malformed(sealHeader);
  const right = typeof value === 'string' && Buffer.from(value, 'base64').length === overheadBytes;
  if (!right || form !== 'single' || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) throw malformed(sealHeader);
  return value;
}

function readKept(value: string | string[] | undefined, { form }: WrappedKeys): EnvelopeChecksum | undefined {
  if (value === undefined) return undefined;
  const read = typeof value === 'string' ? readChecksum(value) : undefined;
  if (read === 'unknown') return undefined;
  if (read === undefined || (read.sealed !== undefined) !== (form === 'single'))
    throw malformed(checksumHeader);
  return read;
}

/** Other forms are ignored, as reading the plaintext does not need this header. */
const readMd5 = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{39,2000}$/.test(value) ? value : undefined;

/** Base64url characters of an encapsulated key, a DEK and a tag. */
export const recoveryBlobLength = 107;
const recoveryPattern = /^[A-Za-z0-9_-]{107}(\.[A-Za-z0-9_-]{107}){0,7}$/;

function readRecovery(value: string | string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !recoveryPattern.test(value)) throw malformed(recoveryHeader);
  return value;
}

const wrappedPattern = /^vault:v([1-9]\d{0,9}):[A-Za-z0-9+/]+={0,2}$/;

function versionOf(keys: WrappedKeys): number {
  const wrapped = keys.form === 'single' ? keys.dek : keys.form === 'inline' ? keys.list.seal : keys.seal;
  return versionOfWrapped(wrapped);
}

/** The transit key version of a wrapped key; NaN for any other text. */
export const versionOfWrapped = (wrapped: string): number => Number(wrappedPattern.exec(wrapped)?.[1]);

/** Values and names; an inline list of parts has to fit into the headers of an object. */
const mostOfKeys = 10_000;

function readKeys(text: string, format: EnvelopeFormat): WrappedKeys {
  if (wrappedPattern.test(text)) return { form: 'single', dek: text };
  let value: { v?: unknown; manifest?: unknown; seal?: unknown; parts?: unknown };
  try {
    value = parseBounded(text, { maxParts: mostOfKeys, maxDepth: 10 }) as typeof value;
  } catch (cause) {
    throw malformed(wrappedDekHeader, cause);
  }
  if (value?.v !== format) throw malformed(wrappedDekHeader);
  if ('parts' in value) return { form: 'inline', list: readPartList(value) };
  if (!isManifestId(value.manifest) || !wrappedPattern.test(String(value.seal)))
    throw malformed(wrappedDekHeader);
  return { form: 'pointer', manifest: value.manifest, seal: String(value.seal) };
}

const malformed = (header: string, cause?: unknown) =>
  new EnvelopeError('malformed-metadata', `${header} is not what svc writes`, { cause });

/**
 * What a wrapped key is bound to besides the KEK. The key server gets it as associated data, so a key moved to another
 * name does not unwrap.
 */
export type BindingMode = 'none' | 'key' | 'bucket-key';

/** An object's name, as the caller knows it. */
export interface ObjectName {
  readonly bucket: string;
  readonly key: string;
}

/** Purpose of a key. It includes the format, so that a store cannot present an object as one of the other format. */
export type KeyPurpose =
  | { readonly kind: 'object'; readonly format?: EnvelopeFormat | undefined }
  /** Format 1. `upload` is the manifest id; the key does not unwrap for another upload or part number. */
  | { readonly kind: 'part'; readonly upload: string; readonly number: number; readonly format?: 1 }
  /** Key of a part list: in format 1 it only seals the list, in format 2 it is the upload's DEK. */
  | { readonly kind: 'seal'; readonly upload: string; readonly format?: EnvelopeFormat | undefined };

/**
 * @returns a JSON array, which makes it unambiguous, as text for UTF-8; undefined for a key of format 1 under `none`
 */
export function associatedData(mode: BindingMode, name: ObjectName, purpose: KeyPurpose): string | undefined {
  const { kind, format = 1 } = purpose;
  if (mode === 'none' && format === 1) return undefined;
  const bucket = mode === 'bucket-key' ? name.bucket : null;
  const key = mode === 'none' ? null : name.key;
  return JSON.stringify(['svc', format, bucket, key, kind, ...purposeFields(purpose)]);
}

function purposeFields(purpose: KeyPurpose): (string | number)[] {
  if (purpose.kind === 'object') return [];
  if (purpose.kind === 'seal') return [purpose.upload];
  return [purpose.upload, purpose.number];
}
