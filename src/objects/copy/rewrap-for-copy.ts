import { randomBytes } from 'node:crypto';
import type { WrappedKey } from '../../keyserver/contract.ts';
import type { ObjectServices } from '../context.ts';
import type { PartEntry } from '../format/body-format.ts';
import { sealKeyOf } from '../format/body-keys.ts';
import { type PartList, type StoredPartList, sealMac } from '../format/manifest.ts';
import type { Envelope, ObjectName } from '../format/metadata.ts';
import { sealPartForRecovery } from '../format/recovery.ts';
import {
  openWholeChecksum,
  sealMd5,
  sealPartChecksums,
  sealWholeChecksum,
} from '../format/sealed-checksums.ts';
import { type BoundKey, createKey } from '../keys/data-keys.ts';
import type { VerifiedList } from '../multipart/manifest-store.ts';
import type { WholeChecksum } from '../s3/checksum.ts';

/** Digests that replace the source's in the copy. */
export interface AnewDigests {
  /** The checksum that the caller asked for; undefined: keep the source's. */
  readonly checksum: WholeChecksum | undefined;
  /** Base64, from the copy's own metadata. */
  readonly md5: string | undefined;
  /** Whether to keep the source's MD5, like the rest of its metadata, if the copy names none. */
  readonly keepsMd5: boolean;
}

type Keys = ObjectServices['keys'];

/** Number of part keys in the clear at a time. */
const window = 64;

/** Wraps the DEK of a single body for another name, under the latest KEK version. */
export async function rewrapSingle(
  keys: Keys,
  from: SingleBody,
  anew: AnewDigests,
  to: ObjectName,
  signal: AbortSignal,
): Promise<{ wrapped: BoundKey; kept: KeptSealed; told: WholeChecksum | undefined }> {
  const purpose = { kind: 'object', format: from.envelope.format } as const;
  const unwrapped = await keys.unwrap(from.name, from.envelope, [{ wrapped: from.dek, purpose }], signal);
  try {
    const dek = unwrapped[0] as Buffer;
    const { kept, told } = checksumUnder(dek, from, anew.checksum);
    const md5 = md5Under(dek, from, anew);
    const [wrapped] = await keys.wrap(to, [{ key: dek, purpose }], signal);
    return { wrapped: wrapped as BoundKey, kept: { ...kept, ...(md5 !== undefined && { md5 }) }, told };
  } finally {
    for (const key of unwrapped) key.fill(0);
  }
}

interface SingleBody {
  readonly name: ObjectName;
  readonly envelope: Envelope;
  readonly dek: string;
  /** Plaintext bytes. */
  readonly size: number;
}

/** The DEK does not change, so a checksum sealed under it stays valid. */
function checksumUnder(dek: Buffer, { envelope, size }: SingleBody, anew: WholeChecksum | undefined) {
  const of = String(size);
  if (anew !== undefined) {
    const { algorithm, type } = anew;
    return { kept: { checksum: { algorithm, type, sealed: sealWholeChecksum(dek, of, anew) } }, told: anew };
  }
  const { checksum } = envelope;
  if (checksum?.sealed === undefined) return { kept: {}, told: undefined };
  return { kept: { checksum }, told: openWholeChecksum(dek, of, checksum.sealed, 1) };
}

type KeptSealed = Pick<Envelope, 'checksum' | 'md5'>;

function md5Under(dek: Buffer, { envelope }: SingleBody, { md5, keepsMd5 }: AnewDigests): string | undefined {
  if (md5 !== undefined) return sealMd5(dek, md5);
  return keepsMd5 ? envelope.md5 : undefined;
}

interface Relisted {
  readonly list: StoredPartList;
  readonly keyVersion: number;
  /** For the object's metadata, sealed. */
  readonly md5: string | undefined;
  readonly recovery: string | undefined;
}

/** Wraps the DEK of a copied format 2 upload for the new name, with a new seal on the part list. */
export async function rewrapUpload(
  keys: Keys,
  { name, envelope, list }: { name: ObjectName; envelope: Envelope; list: VerifiedList & { format: 2 } },
  anew: AnewDigests,
  to: ObjectName,
  signal: AbortSignal,
): Promise<Relisted> {
  const manifest = randomBytes(16).toString('base64url');
  const purpose = (upload: string) => ({ kind: 'seal', upload, format: 2 }) as const;
  const item = { wrapped: list.seal, purpose: purpose(list.manifest) };
  const [dek] = await keys.unwrap(name, envelope, [item], signal);
  if (dek === undefined) throw new TypeError('a purpose without a key');
  const sealKey = sealKeyOf(dek, manifest);
  try {
    const [wrapped] = await keys.wrap(to, [{ key: dek, purpose: purpose(manifest) }], signal);
    if (wrapped === undefined) throw new TypeError('a key that was not wrapped');
    const { ciphertext: seal, keyVersion, recovery } = wrapped;
    const mac = sealMac(sealKey, manifest, list.parts, 2);
    const { md5, ...digests } = sealedDigests(sealKey, mac, list, anew);
    return {
      list: { format: 2, manifest, parts: list.parts, seal, mac, ...digests },
      ...{ keyVersion, md5, recovery },
    };
  } finally {
    sealKey.fill(0);
    dek.fill(0);
  }
}

/** The copy's digests: checksums for the part list, the MD5 for the metadata. */
function sealedDigests(
  sealKey: Buffer,
  mac: string,
  { md5: sources, ofParts }: VerifiedList,
  { checksum, md5, keepsMd5 }: AnewDigests,
) {
  const named = md5 ?? (keepsMd5 ? sources : undefined);
  const sameAlgorithm = ofParts !== undefined && ofParts.algorithm === checksum?.algorithm;
  return {
    ...(checksum && { sum: sealWholeChecksum(sealKey, mac, checksum) }),
    ...(sameAlgorithm && { sums: sealPartChecksums(sealKey, mac, ofParts) }),
    md5: named && sealMd5(sealKey, named),
  };
}

/** Wraps the DEKs of a copied object's parts for the new name, with a new seal on the part list. */
export async function rewrapParts(
  keys: Keys,
  from: { readonly name: ObjectName; readonly envelope: Envelope; readonly list: VerifiedList & PartList },
  anew: AnewDigests,
  to: ObjectName,
  signal: AbortSignal,
): Promise<Relisted> {
  const manifest = randomBytes(16).toString('base64url');
  const seal = await createKey(keys, to, { kind: 'seal', upload: manifest }, signal);
  try {
    const parts: PartEntry[] = [];
    for (let start = 0; start < from.list.parts.length; start += window) {
      const batch = from.list.parts.slice(start, start + window);
      parts.push(...(await rewrapBatch(keys, from, to, batch, { manifest, sealKey: seal.key }, signal)));
    }
    const mac = sealMac(seal.key, manifest, parts);
    const { md5, ...digests } = sealedDigests(seal.key, mac, from.list, anew);
    const { ciphertext, keyVersion, recovery } = seal;
    return {
      list: { manifest, parts, seal: ciphertext, mac, ...digests },
      ...{ keyVersion, md5, recovery },
    };
  } finally {
    seal.key.fill(0);
  }
}

interface NewSeal {
  readonly manifest: string;
  readonly sealKey: Buffer;
}

async function rewrapBatch(
  keys: Keys,
  { name, envelope, list }: { name: ObjectName; envelope: Envelope; list: PartList },
  to: ObjectName,
  batch: readonly PartEntry[],
  { manifest, sealKey }: NewSeal,
  signal: AbortSignal,
): Promise<PartEntry[]> {
  const purposes = (upload: string) => batch.map(({ n }) => ({ kind: 'part', upload, number: n }) as const);
  const before = purposes(list.manifest);
  const items = batch.map(({ dek }, index) => ({
    wrapped: dek,
    purpose: before[index] as (typeof before)[0],
  }));
  const unwrapped = await keys.unwrap(name, envelope, items, signal);
  const recovery = keys.recipients
    ? unwrapped.map((dek, index) => ({
        recovery: sealPartForRecovery(sealKey, manifest, (batch[index] as PartEntry).n, dek),
      }))
    : [];
  const wrapped = await wrapAndForget(keys, to, unwrapped, purposes(manifest), signal);
  return batch.map(({ recovery: _, ...part }, index) => ({
    ...part,
    dek: (wrapped[index] as WrappedKey).ciphertext,
    ...recovery[index],
  }));
}

async function wrapAndForget(
  keys: Keys,
  to: ObjectName,
  unwrapped: readonly Buffer[],
  purposes: readonly Parameters<Keys['wrap']>[1][number]['purpose'][],
  signal: AbortSignal,
): Promise<WrappedKey[]> {
  try {
    const items = unwrapped.map((key, index) => ({ key, purpose: purposes[index] as (typeof purposes)[0] }));
    return await keys.wrap(to, items, signal);
  } finally {
    for (const key of unwrapped) key.fill(0);
  }
}
