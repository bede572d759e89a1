import { BoundedMap } from '../../runtime/bounds/bounded-map.ts';
import type { ObjectServices, RequestContext } from '../context.ts';
import { coveringSegments, maxSegmentedPlaintext } from '../format/segments.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import type { ReadRequest } from './read-request.ts';
import type { ByteRange, ObjectAddress, StoredObject } from './stored-object.ts';

/** Headers of an object, requested before a slice is read. */
export interface ObjectLook {
  readonly object: StoredObject;
  /** A response whose body has exactly the segments that cover the range; only for an object in one piece. */
  readonly covering: UpstreamResponse | undefined;
}

/** Approximate memory for remembered names, which are up to a kilobyte long. */
const knownBytes = 2 * 1024 * 1024;
const costOf = (name: string): number => name.length * 2 + 100;

/**
 * Learns from reads and HEAD requests which objects need a HEAD first: objects in parts, in format 1, or unencrypted.
 */
export class ObjectLooks {
  readonly #headFirst = new BoundedMap<string, true>(knownBytes, { costOf });

  /**
   * Requests the headers of an object. Where objects are written in format 2, a short range is requested along with
   * them, since for an object in one piece the covering segments are known in advance.
   * @returns undefined if the store refuses
   * @throws EnvelopeError as `ObjectReader.describe`
   */
  async at(
    services: ObjectServices,
    context: RequestContext,
    request: ReadRequest,
  ): Promise<ObjectLook | undefined> {
    const { address, query, headers } = request;
    const { bucket, key } = address.name;
    const mayCover = services.config.format === 2 && this.#headFirst.get(nameOf(address)) === undefined;
    const span = mayCover ? coveringSpan(request) : undefined;
    const look = span && (await lookBySpan(services, context, request, span));
    if (look !== undefined) {
      this.learn(services, look.object);
      return look;
    }
    const { signal } = context;
    const head = await services.upstream.send({ method: 'HEAD', bucket, key, query, headers, signal });
    head.body.resume();
    if (head.status !== 200) return undefined;
    const object = services.reader.describe(address, head.headers);
    this.learn(services, object);
    return { object, covering: undefined };
  }

  /** Programs often ask for the size by HEAD before they read. With format 1 a HEAD comes first in any case. */
  learn({ config }: Pick<ObjectServices, 'config'>, object: StoredObject): void {
    if (config.format !== 2) return;
    if (isSegmentedWhole(object)) this.#headFirst.delete(nameOf(object));
    else this.#headFirst.set(nameOf(object), true);
  }
}

const nameOf = ({ name: { bucket, key } }: ObjectAddress): string => `${bucket}/${key}`;
const isSegmentedWhole = ({ envelope }: StoredObject) =>
  envelope?.format === 2 && envelope.keys.form === 'single';

/** Bytes; such a range is held in memory as a whole. */
const longestRange = 1024 * 1024;

/**
 * Stored range of the segments that cover a short range, assuming a format 2 object in one piece that is long enough.
 */
function coveringSpan({ range, ifRange }: ReadRequest): ByteRange | undefined {
  if (range === undefined || 'suffix' in range || range.to === undefined || ifRange !== undefined)
    return undefined;
  const take = range.to - range.from + 1;
  if (take > longestRange || range.to >= maxSegmentedPlaintext) return undefined;
  const { from, to } = coveringSegments(maxSegmentedPlaintext, range.from, take);
  return { start: from, end: to - 1 };
}

/** @returns undefined if a HEAD has to tell more: the object is too short or empty, or the store refused */
async function lookBySpan(
  { upstream, reader }: ObjectServices,
  { signal }: RequestContext,
  { address, query, headers }: ReadRequest,
  span: ByteRange,
): Promise<ObjectLook | undefined> {
  const ranged = { ...headers, range: `bytes=${span.start}-${span.end}` };
  const response = await upstream.send({ method: 'GET', ...address.name, query, headers: ranged, signal });
  const [, start, end, total = ''] =
    /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers['content-range'] ?? '') ?? [];
  if (response.status !== 206 || Number(start) !== span.start) {
    response.body.destroy();
    return undefined;
  }
  try {
    const object = reader.describe(address, { ...response.headers, 'content-length': total });
    const last = Math.min(span.end, object.storedSize - 1);
    const isLong =
      Number(response.headers['content-length']) === last - span.start + 1 && Number(end) === last;
    if (isLong && isSegmentedWhole(object)) return { object, covering: response };
    response.body.destroy();
    return { object, covering: undefined };
  } catch (error) {
    response.body.destroy();
    throw error;
  }
}
