import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { errorXml } from '../../../core/s3/error-xml.ts';

/** The answer in progress on a socket, which `node:http` keeps there. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse;
}

/**
 * Answers what is not HTTP: malformed heads, broken chunked framing, heads that never end.
 * Whoever serves a request on that socket is told by its closing.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent) {
    socket.destroy();
    return;
  }
  const body = errorXml(errorFor(error.code), { resource: '', requestId: '' });
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/xml\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

function errorFor(code: string | undefined) {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return s3Error('RequestTimeout');
  if (code === 'HPE_HEADER_OVERFLOW')
    return s3Error('InvalidRequest', 'The head of the request is too long.');
  if (code === 'HPE_INVALID_EOF_STATE') return s3Error('IncompleteBody');
  return s3Error('InvalidRequest', 'The request is not well-formed HTTP.');
}
