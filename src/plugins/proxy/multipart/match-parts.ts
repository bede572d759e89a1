import type { PartEntry } from '../../../core/envelope/manifest.ts';
import type { PartRecord } from '../../../core/envelope/records.ts';
import type { CompletedPart } from '../../../core/s3/complete-multipart.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';

/**
 * The recorded entry of every part that the caller names, in the caller's order.
 * @throws S3Error InvalidPart for a part without record, or with two, which no honest store brings about.
 */
export function matchParts(named: readonly CompletedPart[], records: readonly PartRecord[]): PartEntry[] {
  const known = new Map<string, PartEntry | 'ambiguous'>();
  for (const { part, etag } of records) {
    const id = `${part.n} ${etag}`;
    known.set(id, known.has(id) ? 'ambiguous' : part);
  }
  return named.map(({ partNumber, etag }) => {
    const entry = known.get(`${partNumber} ${etag}`);
    if (entry === undefined || entry === 'ambiguous')
      throw s3Error('InvalidPart', undefined, { details: { PartNumber: String(partNumber) } });
    return entry;
  });
}
