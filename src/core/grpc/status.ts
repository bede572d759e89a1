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

/** The status of a `grpc-status` field; UNKNOWN for a number that gRPC does not have. */
export function statusOfNumber(text: string): GrpcStatus {
  return (/^\d{1,2}$/.test(text) ? names[Number(text)] : undefined) ?? 'UNKNOWN';
}

/** What gRPC makes of an HTTP status other than 200. */
export function statusOfHttp(status: number): GrpcStatus {
  if (status === 400) return 'INTERNAL';
  if (status === 401) return 'UNAUTHENTICATED';
  if (status === 403) return 'PERMISSION_DENIED';
  if (status === 404) return 'UNIMPLEMENTED';
  return [429, 502, 503, 504].includes(status) ? 'UNAVAILABLE' : 'UNKNOWN';
}

/** What gRPC makes of the HTTP/2 error code with which a stream was reset. */
export function statusOfReset(code: number): GrpcStatus {
  if (code === 7) return 'UNAVAILABLE';
  if (code === 8) return 'CANCELLED';
  if (code === 11) return 'RESOURCE_EXHAUSTED';
  return code === 12 ? 'PERMISSION_DENIED' : 'INTERNAL';
}

/** Longest text of a server that is passed on, in characters. */
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
