import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { AnswerKind } from './input.ts';

/** How a caller behaves. */
export interface Manner {
  /** Sent one byte at a time after the request, every 100 ms. */
  readonly trickle?: boolean;
  /** How long the connection says nothing first. Default: not at all. */
  readonly silentMs?: number;
  /** Ends the connection after this time, if nothing has come; in ms. Default: three minutes, and then it is `silent`. */
  readonly leaveAfterMs?: number;
}

const patienceMs = 180_000;

/**
 * Sends the bytes of a request on a connection of its own, and reads what comes to its end.
 * @param url of the listener; a certificate is not checked
 */
export function sendBytes(url: string, bytes: Uint8Array, manner: Manner = {}): Promise<AnswerKind> {
  const { protocol, hostname: host, port } = new URL(url);
  const at = { host, port: Number(port) };
  const socket = protocol === 'https:' ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at);
  return exchange(socket, bytes, manner);
}

/** The same over a socket that connects already. */
export async function exchange(socket: Socket, bytes: Uint8Array, manner: Manner = {}): Promise<AnswerKind> {
  const { promise, resolve } = Promise.withResolvers<AnswerKind>();
  const { leaveAfterMs, silentMs = 0, trickle = false } = manner;
  let beginning = '';
  const outcome = () => Number(/^HTTP\/1\.1 ([2-5]\d\d)/m.exec(beginning)?.[1] ?? 0) || 'ended';
  socket.on('data', (piece: Buffer) => {
    if (beginning.length < 1_000) beginning += piece.toString('latin1', 0, 1_000);
  });
  socket.on('error', () => resolve(outcome())).on('close', () => resolve(outcome()));
  const begun = setTimeout(() => {
    socket.write(bytes);
    if (trickle) void trickled(socket);
  }, silentMs);
  const late = setTimeout(
    () => resolve(leaveAfterMs === undefined ? 'silent' : outcome()),
    leaveAfterMs ?? patienceMs,
  );
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    clearTimeout(begun);
    socket.destroy();
  }
}

async function trickled(socket: Socket): Promise<void> {
  while (!socket.destroyed) {
    await sleep(100);
    if (socket.writable) socket.write('x');
  }
}
