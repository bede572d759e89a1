import type { PartRecord } from '../../../core/envelope/records.ts';
import type { CompletedPart } from '../../../core/s3/complete-multipart.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';

/**
 * The record of every part that the caller names, in the caller's order.
 * @throws S3Error InvalidPart for a part without record, or with two, which no honest store brings about.
 */
export function matchParts(named: readonly CompletedPart[], records: readonly PartRecord[]): PartRecord[] {
  const known = new Map<string, PartRecord | 'ambiguous'>();
  for (const record of records) {
    const id = `${record.part.n} ${record.etag}`;
    known.set(id, known.has(id) ? 'ambiguous' : record);
  }
  return named.map(({ partNumber, etag }) => {
    const record = known.get(`${partNumber} ${etag}`);
    if (record === undefined || record === 'ambiguous')
      throw s3Error('InvalidPart', undefined, { details: { PartNumber: String(partNumber) } });
    return record;
  });
}
