import type { ServerResponse } from 'node:http';

export function respondText(
  response: ServerResponse,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** What the caller still has to send is not read. */
export function hangUp(response: ServerResponse, status: number, text: string): void {
  response.setHeader('connection', 'close');
  respondText(response, status, text);
}
