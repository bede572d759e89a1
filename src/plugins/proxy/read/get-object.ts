import { hasEnvelope } from '../../../core/envelope/metadata.ts';
import type { Exchange, Handler, ProxyContext } from '../context.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import { answerUnsatisfied, deliver, passOn, passRefusalOn, readAgain, readOptions } from './deliver.ts';
import {
  chooseSlice,
  type ReadRequest,
  rangeHeaders,
  readRequest,
  type Slice,
  wholeHeaders,
} from './read-request.ts';
import { ObjectChanged, type ObjectLayout, type StoredObject } from './stored-object.ts';

/** GetObject: the whole by one request to the store, ranges and parts after a look at the headers. */
export const getObject: Handler = async (context, exchange) => {
  const request = readRequest(exchange.request);
  const sliced = request.range !== undefined || request.partNumber !== undefined;
  await readAgain(exchange.answer, () =>
    sliced ? getSlice(context, exchange, request) : getWhole(context, exchange, request),
  );
};

async function getWhole(context: ProxyContext, exchange: Exchange, request: ReadRequest): Promise<void> {
  const { address, query, headers } = request;
  const { signal } = exchange;
  const response = await context.upstream.send({ method: 'GET', ...address.name, query, headers, signal });
  if (response.status !== 200) return passRefusalOn(exchange, response);
  const read = await begin(context, exchange, request, response);
  if (read === undefined) return passOn(exchange, response);
  const { object, layout } = read;
  const chunks = context.reader.decrypt(object, layout, response, readOptions(exchange));
  await deliver(exchange, 200, wholeHeaders(object, layout.size, request), chunks);
}

/** The body waits meanwhile. @returns undefined for an object that is not encrypted. */
async function begin(
  { reader }: ProxyContext,
  { signal }: Exchange,
  { address }: ReadRequest,
  response: UpstreamResponse,
): Promise<{ object: StoredObject; layout: ObjectLayout } | undefined> {
  try {
    const object = reader.describe(address, response.headers);
    return object.envelope && { object, layout: await reader.layout(object, signal) };
  } catch (error) {
    response.body.destroy();
    throw error;
  }
}

/** A GET with a range or a part number: HEAD first, then what covers it. */
async function getSlice(context: ProxyContext, exchange: Exchange, request: ReadRequest): Promise<void> {
  const { address, query, headers } = request;
  const { signal } = exchange;
  const head = await context.upstream.send({ method: 'HEAD', ...address.name, query, headers, signal });
  head.body.resume();
  if (head.status !== 200) return passRefusal(context, exchange, request);
  const object = context.reader.describe(address, head.headers);
  if (object.envelope === undefined) return passSlice(context, exchange, object, request);
  const layout = await context.reader.layout(object, signal);
  const slice = chooseSlice(object, layout, request);
  await answerSlice(context, exchange, { object, layout, request }, slice);
}

interface Read {
  readonly object: StoredObject;
  readonly layout: ObjectLayout;
  readonly request: ReadRequest;
}

async function answerSlice(
  context: ProxyContext,
  exchange: Exchange,
  { object, layout, request }: Read,
  slice: Slice,
): Promise<void> {
  if (slice === 'unsatisfied') return answerUnsatisfied(context, exchange, object, layout);
  const whole = slice === 'whole';
  const headers = whole
    ? wholeHeaders(object, layout.size, request)
    : { ...rangeHeaders(object, layout.size, slice.range, request), ...slice.headers };
  const range = whole ? undefined : slice.range;
  const chunks = context.reader.plaintext(object, layout, range, readOptions(exchange));
  await deliver(exchange, whole ? 200 : 206, headers, chunks);
}

/** A HEAD has no error body, so the same is asked by GET. */
async function passRefusal(
  { upstream }: ProxyContext,
  exchange: Exchange,
  { address, query, headers }: ReadRequest,
): Promise<void> {
  const { signal } = exchange;
  const response = await upstream.send({ method: 'GET', ...address.name, query, headers, signal });
  if (response.status >= 300) return passRefusalOn(exchange, response);
  response.body.destroy();
  throw new ObjectChanged();
}

/** An object that is not encrypted: the store makes the slice. */
async function passSlice(
  { upstream }: ProxyContext,
  exchange: Exchange,
  object: StoredObject,
  request: ReadRequest,
): Promise<void> {
  const { address, query, partNumber } = request;
  const layout = { size: object.storedSize, list: undefined };
  const slice = chooseSlice(object, layout, { ...request, partNumber: undefined });
  const part: [string, string][] = partNumber === undefined ? [] : [['partNumber', String(partNumber)]];
  const range = slice === 'whole' ? undefined : exchange.request.headers.range;
  const response = await upstream.send({
    method: 'GET',
    ...address.name,
    query: [...query, ...part],
    headers: { ...address.access, 'if-match': object.etag, range },
    signal: exchange.signal,
  });
  if (response.status !== 412 && !hasEnvelope(response.headers)) return passOn(exchange, response);
  response.body.destroy();
  throw new ObjectChanged();
}
