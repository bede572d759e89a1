import { closeSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { exitStatus, SvcError } from '../errors.ts';
import { NativeError } from '../native/libc.ts';
import { type Listener, openListener } from '../native/listener.ts';
import { descriptorOf } from '../native/sockets.ts';
import { listenAt } from '../net/listen.ts';
import { formatListenAddress, type ListenAddress } from '../settings/listen-address.ts';
import type { HealthSnapshot, Metrics } from './health.ts';

const maxConnections = 64;
const maxHeaderBytes = 8192;
const requestTimeoutMs = 5_000;

/** By then Node's server is loaded, which takes 7 ms of a start, unless the process has become svc-init. */
const acceptAfterMs = 300;

/**
 * A health server for a process that must stay small: plain sockets with one request per connection, because
 * `node:http` costs 6 ms at start and half a megabyte. Requests to keep a connection open are answered with `close`.
 * The kernel queues connections at once; they are accepted a moment later.
 * @throws SvcError HEALTH_ADDRESS (exit 78) if the address is not available
 */
export async function startLeanHealthServer(
  at: ListenAddress,
  source: HealthSource,
): Promise<LeanHealthServer> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => serve(socket, source, sockets));
  const listener = listenEarly(at);
  if (listener === undefined) {
    const address = await listen(server, at);
    const stop = () => void server.close();
    return { address, descriptor: descriptorOf(server), stop, close: () => close(server, sockets) };
  }
  const { descriptor } = listener;
  server.on('error', () => undefined); // a connection that cannot be accepted ends nothing
  let isNodes = false;
  let isOpen = true;
  const release = () => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  const later = setTimeout(() => {
    isNodes = true;
    server.listen({ fd: descriptor });
  }, acceptAfterMs);
  return {
    address: formatListenAddress(listener.address),
    descriptor,
    stop: () => {
      clearTimeout(later);
      if (isNodes) server.close();
      else release();
    },
    close: async () => {
      clearTimeout(later);
      if (isNodes) await close(server, sockets);
      else release();
    },
  };
}

function listenEarly(at: ListenAddress): Listener | undefined {
  try {
    return openListener(at);
  } catch (error) {
    if (error instanceof NativeError) throw refused(at, error, error.errnoName);
    throw error;
  }
}

function serve(socket: Socket, source: HealthSource, sockets: Set<Socket>): void {
  makeRoom(sockets);
  sockets.add(socket);
  const end = () => socket.destroy();
  const timer = setTimeout(end, requestTimeoutMs).unref();
  let head = '';
  let more = 0;
  const skip = (bytes: Buffer) => {
    more += bytes.length;
    // a probe has no body
    if (more <= maxHeaderBytes) return;
    socket.pause();
    if (socket.writableEnded) socket.destroySoon();
  };
  const read = (bytes: Buffer) => {
    head += bytes.toString('latin1');
    if (!isComplete(head) && head.length <= maxHeaderBytes) return;
    socket.off('data', read).on('data', skip);
    void respond(socket, head, source);
  };
  socket.on('data', read).on('end', () => !isComplete(head) && end());
  socket.on('error', end).on('close', () => {
    clearTimeout(timer);
    sockets.delete(socket);
  });
}

/**
 * Closes the oldest connection first: silent connections must not block probes, whose failure would end the
 * application.
 */
function makeRoom(sockets: Set<Socket>): void {
  const [oldest] = sockets;
  if (oldest === undefined || sockets.size < maxConnections) return;
  sockets.delete(oldest);
  oldest.destroy();
}

const isComplete = (head: string): boolean => head.includes('\r\n\r\n');

const requestLine = /^([A-Z]{1,16}) (\/[\x21-\x7e]*) HTTP\/1\.[01]\r\n/;

async function respond(socket: Socket, head: string, source: HealthSource): Promise<void> {
  if (head.length > maxHeaderBytes) return write(socket, refusal(431), true);
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

/** A response without a body. */
export const refusal = (status: number): HealthAnswer => ({
  status,
  headers: { 'content-length': '0' },
  body: '',
});

function write(socket: Socket, answer: HealthAnswer, withBody: boolean): void {
  socket.end(responseText(withBody ? answer : { ...answer, body: '' }));
}

/** The response in HTTP/1.1 format. */
export function responseText({ status, headers, body }: HealthAnswer): string {
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `HTTP/1.1 ${status} ${reasons[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

async function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of sockets) socket.destroy();
  await closed;
}

/** What the health server serves. */
export interface HealthSource {
  snapshot(): HealthSnapshot;
  /** Called for each request, so that it can be replaced while running. */
  expose(): ReturnType<Metrics['expose']>;
}

export interface HealthServer {
  /** The listen address with the actual port: `127.0.0.1:8191`, `[::]:8191`. */
  readonly address: string;
  close(): Promise<void>;
}

/** A health server that another process can take over. */
export interface LeanHealthServer extends HealthServer {
  /** Descriptor of the listening socket; undefined if not known. */
  readonly descriptor: number | undefined;
  /**
   * Stops accepting, for another process that has a copy of the descriptor; accepted connections are still answered.
   */
  stop(): void;
}

/** The responses of a health server, independent of the HTTP implementation. */
interface HealthAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Page = (source: HealthSource) => Promise<HealthAnswer> | HealthAnswer;

const pages: Readonly<Record<string, Page>> = {
  /** Alive: 200 while the process serves; 503 until a component that has to begin first has begun. */
  '/healthz': alive,
  /** Ready: 200 if every condition is met, otherwise 503 with the reasons. */
  '/readyz': ready,
  /** Metrics in the text format of Prometheus. */
  '/metrics': metrics,
};

/** Answers one request; never rejects. For HEAD the caller sends only the length of the body. */
export async function healthPage(
  method: string,
  target: string,
  source: HealthSource,
): Promise<HealthAnswer> {
  try {
    return await pageFor(method, target, source);
  } catch {
    return json(500, { error: 'metrics cannot be gathered' });
  }
}

async function pageFor(method: string, target: string, source: HealthSource): Promise<HealthAnswer> {
  const path = target.split('?', 1)[0] ?? '';
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page === undefined) return json(404, { error: 'not found' });
  if (method !== 'GET' && method !== 'HEAD') {
    return json(405, { error: 'method not allowed' }, { allow: 'GET, HEAD' });
  }
  return page(source);
}

/** Stays 200 while the process serves, because a probe must not kill a process that only waits for another server. */
function alive(source: HealthSource): HealthAnswer {
  const { status, degraded, notAlive } = source.snapshot();
  if (Object.keys(notAlive).length > 0) return json(503, { status: 'starting', reasons: notAlive });
  return json(200, status === 'ok' ? { status } : { status, degraded });
}

function ready(source: HealthSource): HealthAnswer {
  const { ready, notReady, facts } = source.snapshot();
  const reason = ready ? {} : { reason: Object.values(notReady).join(' ') };
  const told = Object.keys(facts).length > 0 ? { ready, ...facts, ...reason } : {};
  return ready
    ? json(200, { status: 'ready', ...told })
    : json(503, { status: 'not ready', ...told, reasons: notReady });
}

async function metrics(source: HealthSource): Promise<HealthAnswer> {
  const { contentType, body } = await source.expose();
  return answer(200, contentType, body);
}

function json(status: number, body: object, more: Readonly<Record<string, string>> = {}): HealthAnswer {
  return answer(status, 'application/json', `${JSON.stringify(body)}\n`, more);
}

function answer(
  status: number,
  contentType: string,
  body: string,
  more: Readonly<Record<string, string>> = {},
): HealthAnswer {
  const headers = {
    'content-type': contentType,
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    ...more,
  };
  return { status, headers, body };
}

/**
 * Starts listening.
 * @returns the address with the actual port
 * @throws SvcError HEALTH_ADDRESS (exit 78) if the address is not available
 */
export function listen(server: Server, at: ListenAddress): Promise<string> {
  return listenAt(server, at, (cause) => refused(at, cause, cause.code));
}

function refused(at: ListenAddress, cause: Error, code: string | undefined): SvcError {
  const why = code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${code})`;
  return new SvcError('HEALTH_ADDRESS', `The health address ${formatListenAddress(at)} ${why}`, {
    nextStep:
      'Give another address for health and metrics; port 0 takes a free one, an empty address turns them off.',
    exitStatus: exitStatus.config,
    cause,
  });
}
