import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { Query } from '../../../core/s3/request.ts';
import { encodeKey } from '../../../core/s3/uri.ts';
import { element } from '../../../core/s3/xml-write.ts';
import { compareKeys } from './sorted-map.ts';

export interface PageRequest {
  readonly prefix: string;
  /** Empty: no grouping. */
  readonly delimiter: string;
  /** Where the page begins: after this key or common prefix; empty for the first page. */
  readonly after: string;
  readonly max: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly prefixes: readonly string[];
  /** The last key or prefix of a page that is not the last. */
  readonly next: string | undefined;
}

const mostKeys = 1000;

/** @throws S3Error InvalidArgument */
export function pageRequest(query: Query, after: string, maxName: string): PageRequest {
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    after,
    max: pageSize(query, maxName),
  };
}

/** At most 1,000. @throws S3Error InvalidArgument */
export function pageSize(query: Query, name: string): number {
  const text = query.get(name) || String(mostKeys);
  if (!/^\d{1,9}$/.test(text))
    throw s3Error('InvalidArgument', `${name} must be a number from 0 on.`, {
      details: { ArgumentName: name },
    });
  return Math.min(Number(text), mostKeys);
}

/** One page of `entries`, which are in order and begin at `after` or the prefix, whichever comes later. */
export function takePage<T>(
  entries: Iterable<readonly [key: string, value: T]>,
  request: PageRequest,
): Page<T> {
  const { prefix, after, max } = request;
  const items: T[] = [];
  const prefixes: string[] = [];
  let last = '';
  if (max === 0) return { items, prefixes, next: undefined };
  for (const [key, value] of entries) {
    if (!key.startsWith(prefix)) break;
    const group = groupOf(key, request);
    if (group === undefined ? compareKeys(key, after) <= 0 : group === after || group === prefixes.at(-1))
      continue;
    if (items.length + prefixes.length === max) return { items, prefixes, next: last };
    last = group ?? key;
    if (group === undefined) items.push(value);
    else prefixes.push(group);
  }
  return { items, prefixes, next: undefined };
}

/** The common prefix that the key is shown by, if it is. */
function groupOf(key: string, { prefix, delimiter }: PageRequest): string | undefined {
  const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : key.slice(0, at + delimiter.length);
}

/** Where a page's entries begin. */
export function firstOf({ prefix, after }: PageRequest): string {
  return compareKeys(after, prefix) > 0 ? after : prefix;
}

/** How names are written: with `encoding-type=url` percent-encoded. @throws S3Error InvalidArgument */
export function nameWriter(query: Query): (name: string, text: string) => string {
  const encoding = query.get('encoding-type');
  if (encoding !== undefined && encoding !== 'url')
    throw s3Error('InvalidArgument', 'Invalid Encoding Method specified in Request');
  return (name, text) => element(name, encoding === 'url' ? encodeKey(text) : text);
}

type Write = ReturnType<typeof nameWriter>;

export const prefixesXml = (prefixes: readonly string[], write: Write): string =>
  prefixes.map((prefix) => `<CommonPrefixes>${write('Prefix', prefix)}</CommonPrefixes>`).join('');

/** The parameters that every listing repeats, those that were given. */
export function echoXml(query: Query, write: Write): string {
  const delimiter = query.get('delimiter');
  const encoding = query.get('encoding-type');
  return [
    write('Prefix', query.get('prefix') ?? ''),
    delimiter ? write('Delimiter', delimiter) : '',
    encoding === undefined ? '' : element('EncodingType', encoding),
  ].join('');
}
