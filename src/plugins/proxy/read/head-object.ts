import {
  type Envelope,
  readEnvelope,
  serializeKeys,
  wrappedDekHeader,
} from '../../../core/envelope/metadata.ts';
import { maxUserMetadata, userMetadataSize } from '../../../core/s3/headers.ts';
import type { Handler, ProxyServices, RequestContext } from '../context.ts';
import { answerUnsatisfied, passOn, passRefusalOn, readAgain } from './deliver.ts';
import { chooseSlice, type ReadRequest, rangeHeaders, readRequest, wholeHeaders } from './read-request.ts';
import { apparentSize, ObjectChanged, type ObjectLayout, type StoredObject } from './stored-object.ts';

/** HeadObject in plaintext sizes. */
export const headObject: Handler = async (services, context) => {
  const request = readRequest(context.request);
  await readAgain(context.answer, () => answerHead(services, context, request));
};

async function answerHead(
  services: ProxyServices,
  context: RequestContext,
  request: ReadRequest,
): Promise<void> {
  const { address, query, headers, range, partNumber } = request;
  const { signal, answer } = context;
  const response = await services.upstream.send({ method: 'HEAD', ...address.name, query, headers, signal });
  if (response.status !== 200) return passRefusalOn(context, response);
  response.body.resume();
  const object = services.reader.describe(address, response.headers);
  if (object.envelope === undefined) return passStored(services, context, request);
  const sliced = range !== undefined || partNumber !== undefined;
  const size = sliced ? undefined : apparentSize(object);
  if (size === undefined) return answerLoaded(services, context, request, object);
  answer.head(200, wholeHeaders(object, size, request));
  await answer.end();
}

/** An object that is not encrypted: the store's own answer, ranges and parts included. */
async function passStored(
  { upstream }: ProxyServices,
  context: RequestContext,
  { address, query, headers, partNumber }: ReadRequest,
): Promise<void> {
  const part: [string, string][] = partNumber === undefined ? [] : [['partNumber', String(partNumber)]];
  const response = await upstream.send({
    method: 'HEAD',
    ...address.name,
    query: [...query, ...part],
    headers: { ...headers, range: context.request.headers.range },
    signal: context.signal,
  });
  if (readEnvelope(response.headers) !== undefined) {
    response.body.resume();
    throw new ObjectChanged();
  }
  await passOn(context, response);
}

async function answerLoaded(
  services: ProxyServices,
  context: RequestContext,
  request: ReadRequest,
  object: StoredObject,
): Promise<void> {
  const { answer, signal } = context;
  const layout = await services.reader.layout(object, signal);
  const shown = { ...object, headers: { ...object.headers, ...partsShown(object, layout) } };
  const slice = chooseSlice(object, layout, request);
  if (slice === 'unsatisfied') return answerUnsatisfied(services, context, object, layout);
  if (slice === 'whole') answer.head(200, wholeHeaders(shown, layout.size, request));
  else answer.head(206, { ...rangeHeaders(shown, layout.size, slice.range, request), ...slice.headers });
  await answer.end();
}

/** The array of parts in place of the pointer to it, where the header has room for it. */
function partsShown({ envelope, headers }: StoredObject, { list }: ObjectLayout): Record<string, string> {
  if (envelope?.keys.form !== 'pointer' || list === undefined) return {};
  const keys: Envelope['keys'] = { form: 'inline', list };
  const shown = { [wrappedDekHeader]: serializeKeys(keys) };
  return userMetadataSize({ ...headers, ...shown }) <= maxUserMetadata ? shown : {};
}
