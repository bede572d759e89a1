import { s3Error } from '../../../core/s3/error-catalog.ts';

const overridable =
  /^response-(content-type|content-language|expires|cache-control|content-disposition|content-encoding)$/;

/**
 * `response-*` parameters as headers; the store applies them to a GET, but not each store does to a HEAD.
 * @throws S3Error InvalidArgument
 */
export function overridesIn(query: Iterable<readonly [string, string]>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of query) {
    const header = overridable.exec(name)?.[1];
    if (header === undefined) continue;
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw s3Error('InvalidArgument', `${name} holds characters that a header cannot`);
    headers[header] = value;
  }
  return headers;
}
