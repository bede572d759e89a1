import { createHash } from 'node:crypto';
import type { ObjectName } from '../../../core/envelope/binding.ts';
import { EnvelopeError } from '../../../core/envelope/error.ts';
import type { CompletedPart } from '../../../core/s3/complete-multipart.ts';

/** That an upload was completed, by which list, and what came of it. */
export interface DoneRecord {
  readonly list: string;
  /** The store's ETag of the object, quoted as the store has it. */
  readonly etag: string;
  readonly versionId?: string | undefined;
}

/** @returns a hash that equal part lists of one object share; an upload id that is named with another object has none of its. */
export const listHash = ({ bucket, key }: ObjectName, parts: readonly CompletedPart[]): string =>
  createHash('sha256')
    .update(JSON.stringify([bucket, key, ...parts.map((part) => [part.partNumber, part.etag])]))
    .digest('hex');

export const doneRecordText = ({ list, etag, versionId }: DoneRecord): string =>
  JSON.stringify({ v: 1, list, etag, versionId });

/** @throws EnvelopeError `malformed-metadata`. */
export function readDoneRecord(text: string): DoneRecord {
  const value = parse(text);
  if (value?.v !== 1 || typeof value.list !== 'string' || typeof value.etag !== 'string')
    throw new EnvelopeError(
      'malformed-metadata',
      'the record of a completed upload does not have the form that svc writes',
    );
  return {
    list: value.list,
    etag: value.etag,
    versionId: typeof value.versionId === 'string' ? value.versionId : undefined,
  };
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EnvelopeError('malformed-metadata', 'the record of a completed upload is not JSON', { cause });
  }
}
