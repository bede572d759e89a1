import { release } from '../../runtime/memory.ts';
import type { ObjectServices, RequestContext, ResponseWriter } from '../context.ts';
import { EnvelopeError } from '../format/cipher.ts';
import { errorXml, s3Error } from '../s3/error.ts';
import { passedResponseHeaders } from '../s3/headers.ts';
import { unsatisfiedRange } from '../s3/range.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import { ObjectChanged, type ObjectLayout, type ReadOptions, type StoredObject } from './stored-object.ts';

/** Options that let a reader of plaintext be ended if it takes too long. */
export const readOptions = ({ signal, answer }: RequestContext): ReadOptions => ({
  signal,
  evict: (reason) => answer.destroy(reason),
});

/**
 * Sends the plaintext announced by `headers`. The head goes out with the first chunk: earlier failures are answered as
 * errors, later ones break the connection.
 */
export async function deliver(
  { answer }: RequestContext,
  status: number,
  headers: Readonly<Record<string, string>>,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  const length = Number(headers['content-length']);
  try {
    await send(answer, chunks, length, () => answer.head(status, headers));
  } catch (error) {
    if (answer.started) answer.destroy(error as Error);
    throw error;
  }
}

async function send(
  answer: ResponseWriter,
  chunks: AsyncIterable<Buffer>,
  length: number,
  head: () => void,
): Promise<void> {
  let missing = length;
  for await (const chunk of chunks) {
    if (chunk.length > missing) throw new RangeError('more plaintext than was announced');
    if (missing === length) head();
    missing -= chunk.length;
    if (missing > 0) await answer.write(chunk);
    else if (chunk.length > 0) await answer.end(chunk);
  }
  if (missing > 0) throw new RangeError('less plaintext than was announced');
  if (length > 0) return;
  head();
  await answer.end();
}

/**
 * Passes the store's 304 or error on unchanged, for a request for the whole object.
 * @throws EnvelopeError `wrong-size` for any other success than the 200 that was asked for, and for a 416: no range was
 *   requested, and callers would believe the size in it
 */
export async function passRefusalOn(context: RequestContext, response: UpstreamResponse): Promise<void> {
  if (response.status >= 300 && response.status !== 416) return passOn(context, response);
  response.body.destroy();
  throw new EnvelopeError('wrong-size', `the store answered ${response.status} to a request for the whole`);
}

/** Passes the store's answer on unchanged: an unencrypted object, a 304 or an error. */
export async function passOn(
  { answer }: RequestContext,
  { status, headers, body }: UpstreamResponse,
): Promise<void> {
  answer.head(status, passedResponseHeaders(headers));
  try {
    for await (const chunk of body) {
      await answer.write(chunk);
      release(chunk);
    }
    await answer.end();
  } catch (error) {
    if (answer.started) answer.destroy(error as Error);
    throw error;
  }
}

/**
 * Reads again if the object was replaced in between, or if its part list is gone because it has just moved into the
 * object's headers.
 */
export async function readAgain<T>(
  answer: Pick<ResponseWriter, 'started'>,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (answer.started || !mayHelp(error)) throw error;
    return read();
  }
}

const mayHelp = (error: unknown) =>
  error instanceof ObjectChanged || (error instanceof EnvelopeError && error.reason === 'manifest-missing');

/**
 * Answers 416 with the plaintext size, once authentic: clients learn the object's length from it, and take a transfer
 * that broke off there for complete.
 */
export async function answerUnsatisfied(
  { reader }: ObjectServices,
  context: RequestContext,
  object: StoredObject,
  layout: ObjectLayout,
): Promise<void> {
  const { answer, request } = context;
  const { size } = layout;
  await reader.verifySize(object, layout, readOptions(context));
  const error = s3Error('InvalidRange', undefined, {
    details: { RangeRequested: request.headers.range ?? '', ActualObjectSize: String(size) },
  });
  const xml = Buffer.from(errorXml(error, { resource: request.rawPath, requestId: request.id }));
  answer.head(416, {
    'content-type': 'application/xml',
    'content-length': String(xml.length),
    'content-range': unsatisfiedRange(size),
  });
  await (request.method === 'HEAD' ? answer.end() : answer.end(xml));
}
