import type { ByteSink } from './byte-sink.ts';
import { HttpError } from './http-error.ts';

export interface RequestHead {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  /** With the port where it is not the default. */
  readonly host: string;
  /** A value in bytes is copied and never becomes a string. */
  readonly headers: readonly (readonly [name: string, value: string | Uint8Array])[];
}

/**
 * Appends one request to the sink. The parts of the body are copied.
 * @throws HttpError where a part would break out of its line
 */
export function writeRequest(
  head: RequestHead,
  body: readonly Uint8Array[] | undefined,
  sink: ByteSink,
): void {
  const { method, path, host, headers } = head;
  for (const part of [method, path, host]) requireUnbroken(part, /^[\x21-\x7e]+$/);
  sink.append(ascii(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n`));
  for (const [name, value] of headers) writeHeader(name, value, sink);
  if (body !== undefined) sink.append(ascii(`Content-Length: ${lengthOf(body)}\r\n`));
  sink.append(lineEnd);
  for (const part of body ?? []) sink.append(part);
}

const lineEnd = Buffer.from('\r\n');
const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');
const lengthOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0);

function writeHeader(name: string, value: string | Uint8Array, sink: ByteSink): void {
  requireUnbroken(name, /^[A-Za-z-]+$/);
  if (typeof value === 'string') requireUnbroken(value, /^[\x20-\x7e]*$/);
  else if (!value.every((byte) => byte > 0x20 && byte < 0x7f))
    throw new HttpError(`unusable bytes for ${name}`);
  sink.append(ascii(`${name}: `));
  sink.append(typeof value === 'string' ? ascii(value) : value);
  sink.append(lineEnd);
}

function requireUnbroken(part: string, shape: RegExp): void {
  if (!shape.test(part)) throw new HttpError('a request has a line break or a blank where none may be');
}
