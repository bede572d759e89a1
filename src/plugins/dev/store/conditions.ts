import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { unquote } from '../../../core/s3/etag.ts';
import type { StoredObject } from './model.ts';

type Facts = Pick<StoredObject, 'etag' | 'modified'>;
export type ReadVerdict = 'serve' | 'not-modified' | 'failed';

/** The conditions of a read, with `prefix` (`x-amz-copy-source-`) those of a copy on its source. */
export function judgeRead(headers: IncomingHttpHeaders, object: Facts, prefix = ''): ReadVerdict {
  const value = (name: string) => text(headers[prefix + name]);
  const match = value('if-match');
  const noneMatch = value('if-none-match');
  if (match !== undefined && !names(match, object.etag)) return 'failed';
  if (match === undefined && isAfter(object, value('if-unmodified-since'))) return 'failed';
  if (noneMatch !== undefined) return names(noneMatch, object.etag) ? 'not-modified' : 'serve';
  const since = value('if-modified-since');
  return since !== undefined && !isAfter(object, since) ? 'not-modified' : 'serve';
}

/**
 * The conditions of a write on what it replaces.
 * @throws S3Error PreconditionFailed, NoSuchKey, NotImplemented
 */
export function checkWrite(headers: IncomingHttpHeaders, existing: Facts | undefined): void {
  const noneMatch = text(headers['if-none-match']);
  const match = text(headers['if-match']);
  if (noneMatch !== undefined && noneMatch !== '*')
    throw s3Error('NotImplemented', 'A write takes If-None-Match with * only.');
  if (noneMatch !== undefined && existing !== undefined) throw s3Error('PreconditionFailed');
  if (match === undefined) return;
  if (existing === undefined) throw s3Error('NoSuchKey');
  if (!names(match, existing.etag)) throw s3Error('PreconditionFailed');
}

/** Whether a header of ETags names this one. */
export function names(list: string, etag: string): boolean {
  return list.split(',').some((item) => {
    const name = item.trim().replace(/^W\//, '');
    return name === '*' || unquote(name) === etag;
  });
}

/** HTTP dates are of whole seconds; one that cannot be read counts as not given. */
function isAfter({ modified }: Facts, date: string | undefined): boolean {
  const time = date === undefined ? Number.NaN : Date.parse(date);
  return !Number.isNaN(time) && Math.floor(modified / 1000) * 1000 > time;
}

const text = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;
