import {
  type ChecksumAlgorithm,
  type Checksums,
  createChecksum,
  loadChecksums,
  toldChecksum,
  type WholeChecksum,
} from '../../../core/s3/checksum.ts';
import type { ProxyServices } from '../context.ts';
import { ObjectChanged } from '../read/stored-object.ts';
import { smallBytes } from '../write/ciphertext-spool.ts';
import { defaultChecksum } from '../write/put-object.ts';
import type { EncryptionPlan } from '../write/seal-and-send.ts';
import type { CopyRequest, SourceObject } from './copy-request.ts';

/**
 * The checksum that the caller of a copy asks for. Where another is kept with the source, or none, all of it is read.
 * @throws S3Error InvalidRequest for an unknown algorithm
 */
export async function checksumAsked(
  { reader }: Pick<ProxyServices, 'reader'>,
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
 * A source to be written anew, with the checksum that goes with it: the one that is asked for, the source's, or S3's own default
 * of a small one. Metadata leave before a large body, so where one is asked for, the source is read twice.
 */
export async function plaintextWithChecksum(
  services: Pick<ProxyServices, 'reader'>,
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

/** @throws ObjectChanged at its end for a plaintext with another checksum */
async function* sameAs(
  plaintext: AsyncIterable<Buffer>,
  { algorithm, text }: WholeChecksum,
): AsyncGenerator<Buffer> {
  const again = summed(plaintext, algorithm);
  yield* again.source;
  if (again.checksums().get(algorithm)?.toString('base64') !== text) throw new ObjectChanged();
}

/** `plaintext` as it is, and its checksum once it has ended. */
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
