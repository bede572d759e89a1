import { createServer, type Server, type Socket } from 'node:net';
import type { ListenAddress } from '../../core/settings/listen-address.ts';
import type { HealthServer } from './health-server.ts';
import type { HealthSource } from './health-source.ts';
import { listen } from './listen.ts';
import { type HealthAnswer, healthPage } from './pages.ts';

const mostConnections = 64;
const mostHeaderBytes = 8192;
const requestTimeoutMs = 5_000;

/**
 * The health server for a process that must stay small: plain sockets, one request a connection, because `node:http`
 * costs 6 ms at start and half a megabyte. Probes and scrapers that ask for a connection to stay open get `close`.
 * @throws SvcError HEALTH_ADDRESS (exit 78) where the address cannot be had
 */
export async function startLeanHealthServer(at: ListenAddress, source: HealthSource): Promise<HealthServer> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => serve(socket, source, sockets));
  const address = await listen(server, at);
  return { address, close: () => close(server, sockets) };
}

function serve(socket: Socket, source: HealthSource, sockets: Set<Socket>): void {
  makeRoom(sockets);
  sockets.add(socket);
  const end = () => socket.destroy();
  const timer = setTimeout(end, requestTimeoutMs).unref();
  let head = '';
  const read = (bytes: Buffer) => {
    head += bytes.toString('latin1');
    if (!isComplete(head) && head.length <= mostHeaderBytes) return;
    socket.off('data', read).resume();
    void respond(socket, head, source);
  };
  socket.on('data', read).on('end', () => !isComplete(head) && end());
  socket.on('error', end).on('close', () => {
    clearTimeout(timer);
    sockets.delete(socket);
  });
}

/** The oldest gives way: connections that say nothing must not keep probes out, whose failure ends the application. */
function makeRoom(sockets: Set<Socket>): void {
  const [oldest] = sockets;
  if (oldest === undefined || sockets.size < mostConnections) return;
  sockets.delete(oldest);
  oldest.destroy();
}

const isComplete = (head: string): boolean => head.includes('\r\n\r\n');

const requestLine = /^([A-Z]{1,16}) (\/[\x21-\x7e]*) HTTP\/1\.[01]\r\n/;

async function respond(socket: Socket, head: string, source: HealthSource): Promise<void> {
  if (head.length > mostHeaderBytes) return write(socket, refusal(431), true);
  const [, method, target] = requestLine.exec(head) ?? [];
  if (method === undefined || target === undefined) return write(socket, refusal(400), true);
  write(socket, await healthPage(method, target, source), method !== 'HEAD');
}

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

const refusal = (status: number): HealthAnswer => ({ status, headers: { 'content-length': '0' }, body: '' });

function write(socket: Socket, { status, headers, body }: HealthAnswer, withBody: boolean): void {
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const head = `HTTP/1.1 ${status} ${reasons[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`;
  socket.end(withBody ? head + body : head);
}

async function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of sockets) socket.destroy();
  await closed;
}
