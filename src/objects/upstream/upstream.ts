import type { IncomingHttpHeaders } from 'node:http';
import { CollectedBytes, collect } from '../../runtime/bounds/collect.ts';
import { release } from '../../runtime/memory.ts';
import { type HeldMemory, memoryCosts } from '../held-memory.ts';
import type { ResponseBody } from '../net/http1-response-body.ts';
import { errorCatalog, S3Error, type S3ErrorCode, s3Error } from '../s3/error.ts';
import { type DocumentShape, type ScannedDocument, scanDocument } from '../s3/xml-document.ts';
import { unescapeXml } from '../s3/xml-text.ts';

/** A request to the store, without host, date, signature and framing headers. */
export interface UpstreamRequest {
  readonly method: string;
  /** Empty for the service itself. */
  readonly bucket: string;
  /** Decoded; empty for the bucket itself. */
  readonly key: string;
  readonly query?: readonly (readonly [name: string, value: string])[];
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Must be consumed or destroyed. */
  readonly body: ResponseBody;
}

/** A body of known length being sent to the store. */
export interface UpstreamUpload {
  /**
   * Resolves when the connection can take more; `chunk` may then be changed.
   * @throws AnsweredEarly if the store has already answered (read `answer`); S3Error 503 if the connection is lost
   */
  write(chunk: Uint8Array): Promise<void>;
  /** Sends the end of the body with its trailing checksum, and returns the store's response, early or not. */
  finish(lastChunk: Uint8Array): Promise<UpstreamResponse>;
  /** The store's response, if it refused before the end of the body. */
  answer(): Promise<UpstreamResponse>;
  /** Resets the connection, so that the store keeps nothing. Safe to call at any time. */
  abort(): void;
}

/**
 * The object store: requests are signed with the proxy's own credentials and sent over kept-alive connections.
 * Connection failures and timeouts throw S3Error 503 `ServiceUnavailable`; redirects throw S3Error 500, because a
 * caller who followed one would bypass the proxy. If `signal` is aborted, its reason is thrown.
 */
export interface Upstream {
  /** Sends a request without body or with a small one from memory. Never follows redirects. */
  send(request: UpstreamRequest, body?: Uint8Array): Promise<UpstreamResponse>;
  /**
   * Sends a request with a streamed body of `length` bytes; the trailing checksum prevents a truncated body from being
   * stored.
   */
  upload(request: UpstreamRequest, length: number): Promise<UpstreamUpload>;
  close(): void;
}

/** The store answered while its request was still being sent; the answer gives the reason. */
export class AnsweredEarly extends Error {
  override readonly name = 'AnsweredEarly';

  constructor() {
    super('the store answered before it had the whole body');
  }
}

/** Converts a connection failure to a 503, which callers retry. */
export function unavailable(cause: unknown): S3Error {
  if (cause instanceof S3Error) return cause;
  const message = `The object store cannot be reached (${reasonOf(cause)}). Please retry.`;
  return s3Error('ServiceUnavailable', message, { cause });
}

/** Error codes only, since messages of the operating system contain addresses. */
export function reasonOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: { code?: unknown }[] };
  const first = code ?? errors?.[0]?.code;
  return typeof first === 'string' ? first : 'connection failed';
}

const limit = 64 * 1024;

/** Error codes for statuses where the store sends no body (HEAD). */
const codeOfStatus: Readonly<Record<number, string>> = {
  304: 'NotModified',
  400: 'BadRequest',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  405: 'MethodNotAllowed',
  409: 'OperationAborted',
  412: 'PreconditionFailed',
  416: 'InvalidRange',
  429: 'SlowDown',
  501: 'NotImplemented',
  503: 'ServiceUnavailable',
};

/** Reads an unsuccessful response into an S3Error with the store's own code, status and message. */
export async function refusal(response: UpstreamResponse): Promise<S3Error> {
  const text = await readText(response);
  return refusalOf(response.status, text);
}

/** The same for a body that was already read, such as an `<Error>` in a 200; `text` is short. */
export function refusalOf(status: number, text: string): S3Error {
  const failed = status >= 300 ? status : 500;
  const code =
    /<Code>([A-Za-z0-9.]{1,100})<\/Code>/.exec(text)?.[1] ?? codeOfStatus[failed] ?? 'InternalError';
  return new S3Error(code, failed, elementIn(text, 'Message') ?? standingMessage(code), {
    details: detailsIn(text),
  });
}

/**
 * Why a HEAD was refused. A HEAD response has no error body, so the request is repeated as a GET of one byte. An unmet
 * condition is 412 even where HEAD answers 304, for callers that want the object for something else than a GET.
 */
export async function headRefusal(
  upstream: Upstream,
  request: Omit<UpstreamRequest, 'method'>,
  { status, body }: UpstreamResponse,
): Promise<S3Error> {
  body.resume();
  if (status === 304) return s3Error('PreconditionFailed');
  const headers = { ...request.headers, range: 'bytes=0-0' };
  const response = await upstream.send({ method: 'GET', ...request, headers });
  if (response.status === status) return refusal(response);
  response.body.destroy();
  return refusalOf(status, '');
}

/**
 * Error details that S3 defines besides code and message; sizes and digests are left out, as they would be those of the
 * ciphertext.
 */
const passedDetails = [
  'ArgumentName',
  'ArgumentValue',
  'BucketName',
  'Condition',
  'Key',
  'Method',
  'ResourceType',
  'UploadId',
  'VersionId',
];

function detailsIn(text: string): Record<string, string> {
  const found = passedDetails.map((name) => [name, elementIn(text, name)] as const);
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function elementIn(text: string, name: string): string | undefined {
  const [, content] = new RegExp(`<${name}>([^<]{0,1000})</${name}>`).exec(text) ?? [];
  return content === undefined ? undefined : (unescapeXml(content) ?? content);
}

const standingMessage = (code: string): string =>
  Object.hasOwn(errorCatalog, code)
    ? errorCatalog[code as S3ErrorCode][1]
    : `The object store answered ${code}.`;

async function readText({ body }: UpstreamResponse): Promise<string> {
  const text = new CollectedBytes();
  try {
    for await (const chunk of body) {
      if (text.size + chunk.length > limit) break;
      text.add(chunk);
    }
  } catch {
    // cut off; the status says enough
    return '';
  }
  return text.take().toString();
}

/**
 * Takes memory for an answer that will be read as a whole, in place of an earlier one. Call it before the store is
 * asked. @throws as HeldMemory
 */
export function beginAnswer(held: HeldMemory): Promise<void> {
  held.release();
  return held.take(memoryCosts.answer);
}

/**
 * Reads a whole body into memory.
 * @param held takes more memory as the body arrives, after `beginAnswer`; omitted if `limit` is small
 * @throws S3Error for a body longer than `limit` bytes
 */
export async function readBody(
  { body }: UpstreamResponse,
  limit: number,
  held?: HeldMemory,
): Promise<Buffer> {
  const tooLong = () => s3Error('InternalError', 'The object store answered with more than it should.');
  const bounded = held === undefined ? body : charged(body, held);
  try {
    return await collect(bounded, limit, tooLong, release);
  } catch (error) {
    throw unavailable(error);
  }
}

async function* charged(body: AsyncIterable<Buffer>, held: HeldMemory): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    const more = Math.min(chunk.length, size - memoryCosts.answerFirstBytes);
    if (more > 0) await held.take(more * memoryCosts.answerByte);
    yield chunk;
  }
}

const startsWithError = /^(<\?xml[^>]*>)?\s*<Error[\s>]/;

const blanks = new Set(Buffer.from(' \t\r\n'));

function afterBlanks(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length && blanks.has(bytes[at] as number)) at++;
  return at;
}

/**
 * Reads the result document of a request. For copies and Complete, stores send 200 and white space before they know the
 * outcome, so the body decides.
 * @param held as for `readBody`
 * @throws S3Error of the store, from the status or the body; InternalError for another document or a longer one
 */
export async function xmlResult(
  response: UpstreamResponse,
  shape: DocumentShape,
  limit: number,
  held?: HeldMemory,
): Promise<ScannedDocument> {
  const bytes = await readBody(response, limit, held);
  try {
    const document = bytes.subarray(afterBlanks(bytes));
    refuseError(response, document);
    return scanAnswer(document, shape);
  } finally {
    release(bytes);
  }
}

/** `scanDocument` for an answer of the store, of which a caller knows nothing. @throws S3Error InternalError */
export function scanAnswer(document: Buffer, shape: DocumentShape): ScannedDocument {
  try {
    return scanDocument(document, shape);
  } catch (cause) {
    const wanted = shape.root === undefined ? 'a document that can be read' : `a ${shape.root}`;
    throw s3Error('InternalError', `The object store did not answer with ${wanted}.`, { cause });
  }
}

function refuseError({ status }: UpstreamResponse, document: Buffer): void {
  const isError = startsWithError.test(document.toString('utf8', 0, 1024));
  if (status !== 200 || isError) throw refusalOf(status, document.toString('utf8', 0, limit));
}
