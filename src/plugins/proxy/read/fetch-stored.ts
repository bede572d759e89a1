import { EnvelopeError } from '../../../core/envelope/error.ts';
import { refusal } from '../upstream/refusal.ts';
import type { Upstream, UpstreamResponse } from '../upstream/upstream.ts';
import { ObjectChanged } from './object-changed.ts';
import type { ByteRange, ObjectAddress, StoredObject } from './object-reader.ts';

/** Query parameters that name the object's version. */
export const versionQuery = ({ versionId }: ObjectAddress): [string, string][] =>
  versionId === undefined ? [] : [['versionId', versionId]];

/**
 * Bytes of the stored object (default: all), if it is still the same.
 * @throws ObjectChanged, EnvelopeError `wrong-size` when the store answers other bytes, S3Error.
 */
export async function fetchStored(
  upstream: Upstream,
  object: StoredObject,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<UpstreamResponse> {
  const headers = { ...object.access, 'if-match': object.etag, ...rangeHeader(range) };
  const response = await upstream.send({
    method: 'GET',
    ...object.name,
    query: versionQuery(object),
    headers,
    signal,
  });
  if (response.status === 412) {
    response.body.resume();
    throw new ObjectChanged();
  }
  if (response.status >= 300) throw await refusal(response);
  return checked(response, range === undefined ? object.storedSize : range.end - range.start + 1, range);
}

const rangeHeader = (range: ByteRange | undefined): Record<string, string> =>
  range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` };

function checked(response: UpstreamResponse, bytes: number, range: ByteRange | undefined): UpstreamResponse {
  const { status, headers, body } = response;
  const place = /^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1];
  const right = range === undefined ? status === 200 : status === 206 && Number(place) === range.start;
  if (right && Number(headers['content-length']) === bytes) return response;
  body.destroy();
  throw new EnvelopeError('wrong-size', 'the store answered other bytes than it was asked for');
}
