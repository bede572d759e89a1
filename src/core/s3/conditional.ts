import type { IncomingHttpHeaders } from 'node:http';
import { inwardList } from './etag.ts';

const etagConditions = [
  'if-match',
  'if-none-match',
  'if-range',
  'x-amz-copy-source-if-match',
  'x-amz-copy-source-if-none-match',
] as const;
const timeConditions = [
  'if-modified-since',
  'if-unmodified-since',
  'x-amz-copy-source-if-modified-since',
  'x-amz-copy-source-if-unmodified-since',
  'x-amz-if-match-last-modified-time',
] as const;

/** The conditional headers of a request, ETags in the store's own form. */
export function inwardConditions(headers: IncomingHttpHeaders): Record<string, string> {
  const conditions: Record<string, string> = {};
  for (const name of etagConditions) {
    const value = headers[name];
    if (typeof value === 'string') conditions[name] = inwardList(value);
  }
  for (const name of timeConditions) {
    const value = headers[name];
    if (typeof value === 'string') conditions[name] = value;
  }
  return conditions;
}
