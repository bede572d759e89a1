import type { ObjectServices, OperationHandler, RequestContext } from '../context.ts';
import {
  type Envelope,
  hasEnvelope,
  readEnvelope,
  serializeKeys,
  wrappedDekHeader,
} from '../format/metadata.ts';
import { maxUserMetadata, userMetadataSize } from '../s3/headers.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import { answerUnsatisfied, deliver, passOn, passRefusalOn, readAgain, readOptions } from './deliver.ts';
import type { ObjectLooks } from './look-at-object.ts';
import {
  chooseSlice,
  type ReadRequest,
  rangeHeaders,
  readRequest,
  type Slice,
  wholeHeaders,
} from './read-request.ts';
import { digestHeaders } from './small-object.ts';
import {
  apparentSize,
  asksForDigests,
  ObjectChanged,
  type ObjectLayout,
  type SmallObject,
  type StoredObject,
} from './stored-object.ts';

/** GetObject: the whole object takes one request to the store; for ranges and parts the headers come first. */
export const getObject =
  (looks: ObjectLooks): OperationHandler =>
  async (services, context) => {
    const request = readRequest(context.request, services.config);
    const sliced = request.range !== undefined || request.partNumber !== undefined;
    await readAgain(context.answer, () =>
      sliced ? getSlice(looks, services, context, request) : getWhole(services, context, request),
    );
  };

async function getWhole(
  services: ObjectServices,
  context: RequestContext,
  request: ReadRequest,
): Promise<void> {
  const { address, query, headers } = request;
  const { signal } = context;
  const response = await services.upstream.send({ method: 'GET', ...address.name, query, headers, signal });
  if (response.status !== 200) return passRefusalOn(context, response);
  const read = await begin(services, context, request, response);
  if (read === undefined) return passOn(context, response);
  const { object, layout } = read;
  const announced = wholeHeaders(object, layout.size, request);
  const options = { ...readOptions(context), checksum: request.checksum };
  const small = services.reader.decryptSmall(object, layout, response, options);
  if (small !== undefined) return deliverAtOnce(context, 200, announced, request, await small);
  const kept = await keptHeaders(services, context, request, read).catch((error) => {
    response.body.destroy();
    throw error;
  });
  const chunks = services.reader.decrypt(object, layout, response, options);
  await deliver(context, 200, { ...announced, ...kept }, chunks);
}

/** Kept digests as response headers. The checksum of the whole does not apply to a range. */
async function keptHeaders(
  { reader }: ObjectServices,
  { signal }: RequestContext,
  request: Pick<ReadRequest, 'checksum'>,
  { object, layout }: Pick<Read, 'object' | 'layout'>,
): Promise<Record<string, string>> {
  if (!asksForDigests(object, request.checksum)) return {};
  return digestHeaders(await reader.digests(object, layout, signal), request);
}

const ofRange = { checksum: false };

/** For part 1 of a single body, the checksum is that of the whole. */
const isOnlyPart = ({ list }: ObjectLayout, { partNumber }: ReadRequest): boolean =>
  list === undefined && partNumber !== undefined;

/** Sends head and body together; the memory of the plaintext is released even if the caller disconnects. */
async function deliverAtOnce(
  { answer }: RequestContext,
  status: 200 | 206,
  headers: Readonly<Record<string, string>>,
  request: Pick<ReadRequest, 'checksum'>,
  { plaintext, digests, done }: SmallObject,
): Promise<void> {
  try {
    answer.head(status, { ...headers, ...digestHeaders(digests, request) });
    await answer.end(plaintext);
  } finally {
    done();
  }
}

/** Reads headers and part list while the body waits. @returns undefined for an unencrypted object */
async function begin(
  { reader }: ObjectServices,
  context: RequestContext,
  { address }: ReadRequest,
  response: UpstreamResponse,
): Promise<{ object: StoredObject; layout: ObjectLayout } | undefined> {
  try {
    const object = reader.describe(address, response.headers);
    context.keyVersion = object.envelope?.keyVersion;
    return object.envelope && { object, layout: await reader.layout(object, context) };
  } catch (error) {
    response.body.destroy();
    throw error;
  }
}

/** A GET with a range or a part number: reads the headers first, then the covering body unless it came with them. */
async function getSlice(
  looks: ObjectLooks,
  services: ObjectServices,
  context: RequestContext,
  request: ReadRequest,
): Promise<void> {
  const look = await looks.at(services, context, request);
  if (look === undefined) return passRefusal(services, context, request);
  const { object, covering } = look;
  context.keyVersion = object.envelope?.keyVersion;
  if (object.envelope === undefined) return passSlice(services, context, object, request);
  const { layout, slice } = await sliceOf(services, context, object, request).catch((error) => {
    covering?.body.destroy();
    throw error;
  });
  if (covering !== undefined && typeof slice !== 'string') {
    const options = readOptions(context);
    const small = services.reader.decryptCovered(object, layout, slice.range, covering, options);
    const headers = rangeHeaders(object, layout.size, slice.range, request);
    if (small !== undefined) return deliverAtOnce(context, 206, headers, ofRange, await small);
  }
  covering?.body.destroy();
  await answerSlice(services, context, { object, layout, request }, slice);
}

async function sliceOf(
  { reader }: ObjectServices,
  context: RequestContext,
  object: StoredObject,
  request: ReadRequest,
): Promise<{ layout: ObjectLayout; slice: Slice }> {
  const layout = await reader.layout(object, context);
  return { layout, slice: chooseSlice(object, layout, request) };
}

interface Read {
  readonly object: StoredObject;
  readonly layout: ObjectLayout;
  readonly request: ReadRequest;
}

async function answerSlice(
  services: ObjectServices,
  context: RequestContext,
  { object, layout, request }: Read,
  slice: Slice,
): Promise<void> {
  if (slice === 'unsatisfied') return answerUnsatisfied(services, context, object, layout);
  const whole = slice === 'whole';
  const sum = whole || isOnlyPart(layout, request) ? request : ofRange;
  const kept = await keptHeaders(services, context, sum, { object, layout });
  const headers = whole
    ? { ...wholeHeaders(object, layout.size, request), ...kept }
    : { ...rangeHeaders(object, layout.size, slice.range, request), ...slice.headers, ...kept };
  const range = whole ? undefined : slice.range;
  const chunks = services.reader.plaintext(object, layout, range, readOptions(context));
  await deliver(context, whole ? 200 : 206, headers, chunks);
}

/** Repeats the request as a GET, because a HEAD has no error body. */
async function passRefusal(
  { upstream }: ObjectServices,
  context: RequestContext,
  { address, query, headers }: ReadRequest,
): Promise<void> {
  const { signal } = context;
  const response = await upstream.send({ method: 'GET', ...address.name, query, headers, signal });
  if (response.status >= 300) return passRefusalOn(context, response);
  response.body.destroy();
  throw new ObjectChanged();
}

/** For an unencrypted object, the store selects the slice. */
async function passSlice(
  { upstream }: ObjectServices,
  context: RequestContext,
  object: StoredObject,
  request: ReadRequest,
): Promise<void> {
  const { address, query, partNumber } = request;
  const layout = { size: object.storedSize, list: undefined };
  const slice = chooseSlice(object, layout, { ...request, partNumber: undefined });
  const part: [string, string][] = partNumber === undefined ? [] : [['partNumber', String(partNumber)]];
  const range = slice === 'whole' ? undefined : context.request.headers.range;
  const response = await upstream.send({
    method: 'GET',
    ...address.name,
    query: [...query, ...part],
    headers: { ...address.access, 'if-match': object.etag, range },
    signal: context.signal,
  });
  if (response.status !== 412 && !hasEnvelope(response.headers)) return passOn(context, response);
  response.body.destroy();
  throw new ObjectChanged();
}

/** HeadObject with plaintext sizes. */
export const headObject =
  (looks: ObjectLooks): OperationHandler =>
  async (services, context) => {
    const request = readRequest(context.request, services.config);
    await readAgain(context.answer, () => answerHead(looks, services, context, request));
  };

async function answerHead(
  looks: ObjectLooks,
  services: ObjectServices,
  context: RequestContext,
  request: ReadRequest,
): Promise<void> {
  const { address, query, headers, range, partNumber } = request;
  const { signal, answer } = context;
  const response = await services.upstream.send({ method: 'HEAD', ...address.name, query, headers, signal });
  if (response.status !== 200) return passRefusalOn(context, response);
  response.body.resume();
  const object = services.reader.describe(address, response.headers);
  looks.learn(services, object);
  if (object.envelope === undefined) return passStored(services, context, request);
  const sliced = range !== undefined || partNumber !== undefined;
  const inList = asksForDigests(object, request.checksum) && object.envelope.keys.form !== 'single';
  const size = sliced || inList ? undefined : apparentSize(object);
  if (size === undefined) return answerLoaded(services, context, request, object);
  const kept = await keptHeaders(services, context, request, { object, layout: { size, list: undefined } });
  answer.head(200, { ...wholeHeaders(object, size, request), ...kept });
  await answer.end();
}

/** For an unencrypted object, the store's own answer, with ranges and parts. */
async function passStored(
  { upstream }: ObjectServices,
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
  services: ObjectServices,
  context: RequestContext,
  request: ReadRequest,
  object: StoredObject,
): Promise<void> {
  const { answer } = context;
  const layout = await services.reader.layout(object, context);
  const shown = { ...object, headers: { ...object.headers, ...partsShown(object, layout) } };
  const slice = chooseSlice(object, layout, request);
  if (slice === 'unsatisfied') return answerUnsatisfied(services, context, object, layout);
  const whole = slice === 'whole';
  const sum = whole || isOnlyPart(layout, request) ? request : ofRange;
  const kept = await keptHeaders(services, context, sum, { object, layout });
  if (whole) answer.head(200, { ...wholeHeaders(shown, layout.size, request), ...kept });
  else
    answer.head(206, {
      ...rangeHeaders(shown, layout.size, slice.range, request),
      ...slice.headers,
      ...kept,
    });
  await answer.end();
}

/** Shows the array of parts in place of the manifest pointer if the header has room for it. */
function partsShown({ envelope, headers }: StoredObject, { list }: ObjectLayout): Record<string, string> {
  if (envelope?.keys.form !== 'pointer' || list === undefined) return {};
  const keys: Envelope['keys'] = { form: 'inline', list };
  const shown = { [wrappedDekHeader]: serializeKeys({ keys }) };
  return userMetadataSize({ ...headers, ...shown }) <= maxUserMetadata ? shown : {};
}
