/** Status codes of gRPC by number. */
const names = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

export type GrpcStatus = (typeof names)[number];

/** The status of a `grpc-status` field; UNKNOWN for a number that gRPC does not define. */
export function statusOfNumber(text: string): GrpcStatus {
  return (/^\d{1,2}$/.test(text) ? names[Number(text)] : undefined) ?? 'UNKNOWN';
}

/** The number of a status, as in a `grpc-status` field. */
export const numberOfStatus = (status: GrpcStatus): string => String(names.indexOf(status));

/** Maps an HTTP status other than 200 as gRPC specifies. */
export function statusOfHttp(status: number): GrpcStatus {
  if (status === 400) return 'INTERNAL';
  if (status === 401) return 'UNAUTHENTICATED';
  if (status === 403) return 'PERMISSION_DENIED';
  if (status === 404) return 'UNIMPLEMENTED';
  return [429, 502, 503, 504].includes(status) ? 'UNAVAILABLE' : 'UNKNOWN';
}

/** Maps the HTTP/2 error code of a stream reset as gRPC specifies. */
export function statusOfReset(code: number): GrpcStatus {
  if (code === 7) return 'UNAVAILABLE';
  if (code === 8) return 'CANCELLED';
  if (code === 11) return 'RESOURCE_EXHAUSTED';
  return code === 12 ? 'PERMISSION_DENIED' : 'INTERNAL';
}

/** Maximum characters of a server's message that are passed on. */
const MESSAGE_LIMIT = 500;

/** The text of a `grpc-message` field, percent-decoded, on one line and cut to 500 characters. */
export function statusMessage(field: string): string {
  return decoded(field)
    .replace(/\p{C}+/gu, ' ')
    .slice(0, MESSAGE_LIMIT);
}

function decoded(field: string): string {
  try {
    return decodeURIComponent(field);
  } catch {
    return field;
  }
}

const HEADER = 5;

/** Frames an uncompressed message: its length in four bytes, then the message. */
export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(HEADER + message.length);
  new DataView(framed.buffer).setUint32(1, message.length);
  framed.set(message, HEADER);
  return framed;
}

/** The message of a body that is exactly one uncompressed frame; undefined for anything else. */
export function singleFrame(body: Uint8Array): Uint8Array | undefined {
  if (body.length < HEADER || body[0] !== 0) return undefined;
  const length = new DataView(body.buffer, body.byteOffset).getUint32(1);
  return body.length === HEADER + length ? body.subarray(HEADER) : undefined;
}

/**
 * Path for connect(2) of a gRPC address: `unix:path`, `unix:///absolute/path` or `unix-abstract:name` (a name without a
 * file; the path then begins with NUL). Undefined for anything else.
 */
export function unixSocketPath(address: string): string | undefined {
  const abstract = after(address, 'unix-abstract:');
  if (abstract) return `\0${abstract}`;
  const path = after(address, 'unix:');
  if (!path || path.includes('\0')) return undefined;
  if (!path.startsWith('//')) return path;
  return path.startsWith('///') ? path.slice(2) : undefined;
}

function after(text: string, prefix: string): string | undefined {
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

/** The socket's name in messages: its path, or `@name` in the abstract namespace. */
export function socketName(path: string): string {
  return path.replace(/^\0/, '@');
}
