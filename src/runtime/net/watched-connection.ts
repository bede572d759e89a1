import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Pace } from './pace.ts';

/** A connection of a server, from the moment it is accepted. */
export interface WatchedConnection {
  /** What requests come from: after the handshake, the TLS socket. */
  socket: Socket;
  /** Peer of a connection in its TLS handshake. */
  handshake: string | undefined;
  requests: number;
  /** Of them, those that were refused: nothing but the rest of their bodies is awaited. */
  refused: number;
  /** The last one that began, until it ends: idle connections keep no heads. */
  last: Begun | undefined;
  /** `bytesRead` at the end of the last request: if more was read, the next head is incomplete. */
  readBefore: number;
  idleSince: number;
  readonly acceptedAt: number;
  readonly pace: Pace;
  /** Gives back the memory of the connection. */
  readonly release: () => void;
}

/** A request and what its connection had sent when it began. */
interface Begun {
  readonly request: IncomingMessage;
  readonly writtenBefore: number;
}

export function countRequest(watched: WatchedConnection, by: 1 | -1): void {
  watched.requests += by;
  watched.readBefore = watched.socket.bytesRead;
  watched.idleSince = performance.now();
}

/** Sends pending responses first. */
export function endIdle({ requests, socket }: WatchedConnection): void {
  if (requests === 0) socket.destroySoon();
}

export function givesWayBefore(one: WatchedConnection, other: WatchedConnection): boolean {
  const [first, second] = [claimOf(one), claimOf(other)];
  return first === second ? one.idleSince < other.idleSince : first < second;
}

/** What a connection without a request that is being served has for it: the least gives way first. */
function claimOf(watched: WatchedConnection): number {
  if (watched.requests > 0) return 0;
  return isUnfinished(watched) ? 1 : 2;
}

/** Whether its request goes on only if the caller sends or reads; else the caller waits for the server. */
export function awaitsCaller({ socket, last }: WatchedConnection): boolean {
  if (socket.writableLength > 0 || last === undefined) return true;
  const { request, writtenBefore } = last;
  const awaitsContinue = request.headers.expect !== undefined && socket.bytesWritten === writtenBefore;
  return !request.complete && request.readableLength === 0 && !awaitsContinue;
}

const isUnfinished = ({ handshake, socket, readBefore }: WatchedConnection): boolean =>
  handshake !== undefined || socket.bytesRead > readBefore;
