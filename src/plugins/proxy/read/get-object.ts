import type { Exchange, Handler, ProxyContext } from '../context.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import { wholeHeaders } from './answer-headers.ts';
import { deliver, readOptions } from './deliver.ts';
import { getSlice } from './get-slice.ts';
import type { ObjectLayout, StoredObject } from './object-reader.ts';
import { passOn, passRefusalOn } from './pass-on.ts';
import { readAgain } from './read-again.ts';
import { type ReadRequest, readRequest } from './read-request.ts';

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
