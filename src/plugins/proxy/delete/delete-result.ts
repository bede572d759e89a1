import type { ObjectToDelete } from '../../../core/s3/delete-objects.ts';
import { maxDeleteResultBytes } from '../../../core/s3/delete-objects.ts';
import type { S3Error } from '../../../core/s3/error.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { childText, parseXml } from '../../../core/s3/xml.ts';
import { element } from '../../../core/s3/xml-write.ts';

/** A key that the proxy itself does not delete. */
export interface Refusal {
  readonly object: ObjectToDelete;
  readonly error: S3Error;
}

export const emptyResult =
  '<?xml version="1.0" encoding="UTF-8"?>\n<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></DeleteResult>';

/**
 * Of the keys that were asked for those that are known to be deleted: none where the store kept one that it names
 * otherwise, as some do with characters that XML cannot hold.
 * @throws S3Error InternalError when its answer is no DeleteResult
 */
export function deletedKeys(asked: readonly string[], xml: string): Set<string> {
  const errors = parseXml(xml, 'DeleteResult', maxDeleteResultBytes).children.get('Error') ?? [];
  const kept = new Set(errors.map((error) => childText(error, 'Key') ?? ''));
  const deleted = asked.filter((key) => !kept.has(key));
  return new Set(new Set(asked).size - new Set(deleted).size === kept.size ? deleted : []);
}

/** The store's result with the refused keys among its errors. */
export function withRefusals(xml: string, refusals: readonly Refusal[]): string {
  if (refusals.length === 0) return xml;
  const errors = refusals.map(errorElement).join('');
  const trimmed = xml.trimEnd();
  const open = trimmed.endsWith('/>') ? `${trimmed.slice(0, -2)}></DeleteResult>` : trimmed;
  const at = open.lastIndexOf('</DeleteResult>');
  if (at < 0) throw s3Error('InternalError');
  return open.slice(0, at) + errors + open.slice(at);
}

function errorElement({ object, error }: Refusal): string {
  const version = object.versionId === undefined ? '' : element('VersionId', object.versionId);
  const fields = [
    element('Key', object.key),
    version,
    element('Code', error.code),
    element('Message', error.message),
  ];
  return `<Error>${fields.join('')}</Error>`;
}
