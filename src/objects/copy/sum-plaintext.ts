import type { ObjectServices } from '../context.ts';
import { ObjectChanged } from '../read/stored-object.ts';
import {
  type ChecksumAlgorithm,
  type Checksums,
  createChecksum,
  loadChecksums,
  toldChecksum,
  type WholeChecksum,
} from '../s3/checksum.ts';
import { smallBytes } from '../write/ciphertext-spool.ts';
import { defaultChecksum } from '../write/put-object.ts';
import type { EncryptionPlan } from '../write/seal-and-send.ts';
import type { CopyRequest, SourceObject } from './copy-request.ts';

/**
 * The checksum that the caller of a copy asks for, calculated by reading the whole source; undefined if the caller asks
 * for none or the source already keeps one of that algorithm.
 * @throws S3Error InvalidRequest for an unknown algorithm
 */
export async function checksumAsked(
  { reader }: Pick<ObjectServices, 'reader'>,
  { checksum: algorithm }: CopyRequest,
  { object, layout }: SourceObject,
  signal: AbortSignal,
): Promise<WholeChecksum | undefined> {
  if (algorithm === undefined) return undefined;
  const kept = object.envelope?.checksum ?? layout.list?.checksum;
  if (kept?.algorithm === algorithm) return undefined;
  const { source, checksums } = summed(reader.plaintext(object, layout, undefined, { signal }), algorithm);
  for await (const _ of source);
  return toldChecksum({ algorithm, type: 'FULL_OBJECT' }, checksums().get(algorithm) as Buffer, 1);
}

/**
 * The plaintext of a source with the checksum for the copy: the requested one or, for a small source, the source's or
 * S3's default. The metadata of a large object leave before its body, so a requested checksum takes a second read.
 */
export async function plaintextWithChecksum(
  services: Pick<ObjectServices, 'reader'>,
  copy: CopyRequest,
  source: SourceObject,
  signal: AbortSignal,
): Promise<Pick<EncryptionPlan, 'source' | 'announced'> & { checksums(): Checksums }> {
  const { object, layout } = source;
  const plaintext = services.reader.plaintext(object, layout, undefined, { signal });
  const kept = object.envelope?.checksum?.algorithm;
  if (layout.size <= smallBytes) return summed(plaintext, copy.checksum ?? kept ?? defaultChecksum);
  const first = await checksumAsked(services, copy, source, signal);
  if (first === undefined) return { source: plaintext, checksums: () => new Map() };
  const announced = new Map([[first.algorithm, Buffer.from(first.text, 'base64')]]);
  return { source: sameAs(plaintext, first), announced, checksums: () => announced };
}

/** @throws ObjectChanged at the end if the plaintext has another checksum */
async function* sameAs(
  plaintext: AsyncIterable<Buffer>,
  { algorithm, text }: WholeChecksum,
): AsyncGenerator<Buffer> {
  const again = summed(plaintext, algorithm);
  yield* again.source;
  if (again.checksums().get(algorithm)?.toString('base64') !== text) throw new ObjectChanged();
}

/** Passes `plaintext` through; `checksums` are known once it has ended. */
export function summed(plaintext: AsyncIterable<Buffer>, algorithm: ChecksumAlgorithm) {
  const checksums = new Map<ChecksumAlgorithm, Buffer>();
  async function* source(): AsyncGenerator<Buffer> {
    await loadChecksums([algorithm]);
    const running = createChecksum(algorithm);
    for await (const chunk of plaintext) {
      running.update(chunk);
      yield chunk;
    }
    checksums.set(algorithm, running.digest());
  }
  return { source: source(), checksums: (): Checksums => checksums };
}
