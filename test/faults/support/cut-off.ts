import { once } from 'node:events';
import { connect } from 'node:net';
import { resetSocket } from '../../../src/runtime/net/accepted-sockets.ts';
import type { CutManner } from '../../support/types.ts';

export interface CutUpload {
  readonly url: string;
  /** Path and query. */
  readonly path: string;
  /** Bytes that the head announces. */
  readonly announced: number;
  /** Bytes that are sent before the caller goes away. */
  readonly sent: number;
  readonly manner: CutManner;
  /** In place of a Content-Length: HTTP chunks. */
  readonly chunked?: boolean;
}

/** Begins a PUT and goes away in the middle of its body; resolves when the connection has ended. */
export async function cutUpload({ url, path, announced, sent, manner, chunked }: CutUpload): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${announced}`;
  socket.write(`PUT ${path} HTTP/1.1\r\nHost: ${host}\r\n${framing}\r\n\r\n`);
  if (chunked) socket.write(`${announced.toString(16)}\r\n`);
  await new Promise((resolve) => socket.write(Buffer.alloc(sent, 'x'), resolve));
  if (manner === 'reset') resetSocket(socket);
  else socket.end();
  await ended;
}

/** Asks for an object and goes away after so many bytes of the answer. */
export async function cutDownload(url: string, after: number, manner: CutManner): Promise<void> {
  const { hostname, port, host, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const ended = new Promise((resolve) => socket.once('close', resolve));
  let received = 0;
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received += chunk.length;
    if (received < after) return;
    socket.removeAllListeners('data').pause();
    if (manner === 'reset') resetSocket(socket);
    else socket.destroy();
  });
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await ended;
}
