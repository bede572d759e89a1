import {
  type ChecksumAlgorithm,
  type Checksums,
  createChecksum,
  loadChecksums,
} from '../../../core/s3/checksum.ts';
import { toldChecksum, type WholeChecksum } from '../../../core/s3/object-checksum.ts';
import type { ProxyServices } from '../context.ts';
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
