import http from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Stream } from 'node:stream';
import { acceptedOf, interceptAccepted, peerOf, resetSocket, secureAccepted } from './accepted-sockets.ts';
import { emitEveryRequest, stopParsing } from './http-parser.ts';
import { movedBy, Pace } from './pace.ts';
import {
  awaitsCaller,
  countRequest,
  endIdle,
  givesWayBefore,
  type WatchedConnection,
} from './watched-connection.ts';

export interface ConnectionBounds {
  /** Maximum number of connections, those in their TLS handshake included. */
  readonly connections: number;
  /** Maximum number of connections in their TLS handshake; one more ends the oldest. */
  readonly handshakes: number;
  /**
   * Maximum requests in progress on one connection; clients rarely send the next one before the response (pipelining).
   */
  readonly requests: number;
  /** Milliseconds without traffic after which a request may be ended for the sake of another. */
  readonly staleMs: number;
  /**
   * Whether an address with more connections than any other gives way first. Not behind a load balancer. For one of its
   * own it gives up none that is younger than `staleMs`: callers that connect again and again would leave more memory
   * to collect than a busy process collects, and end each other's handshakes.
   */
  readonly shared: boolean;
  /** Takes the memory of a connection. @returns gives it back; undefined if there is none */
  readonly hold: () => (() => void) | undefined;
}

const unbounded = Number.POSITIVE_INFINITY;

/**
 * The connections of a server with their requests in progress, from the moment they are accepted. `node:http` counts a
 * connection that never sent a byte as busy, and would wait for it at shutdown; of those in their TLS handshake it
 * knows nothing.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  /** By accepted socket. */
  readonly #watched = new Map<Socket, WatchedConnection>();
  /** Accepted sockets in their TLS handshake by peer, oldest first. */
  readonly #handshakes = new Map<string, Socket>();
  #closing = false;

  constructor(bounds: Partial<ConnectionBounds> = {}) {
    const { connections = unbounded, handshakes = unbounded, requests = unbounded } = bounds;
    const { staleMs = unbounded, shared = false, hold = () => () => {} } = bounds;
    this.#bounds = { connections, handshakes, requests, staleMs, shared, hold };
  }

  /**
   * Counts a server's connections as they are accepted, before any handshake. One above the limit, or without memory,
   * ends a connection whose requests were refused, else the slowest with an unfinished handshake or head, else the
   * longest idle one, else the longest stale one; if there is none, it is refused. Where the places are shared, the
   * address with the most connections ends one of its own, in the same order, if need be with a request in progress.
   */
  guard(server: Server): void {
    emitEveryRequest(server);
    const isTls = 'setSecureContext' in server;
    const letIn = interceptAccepted(server, (socket) => {
      if (this.#admit(socket, isTls)) letIn(socket);
    });
    // before the listener that starts serving the connection
    if (isTls) server.prependListener('secureConnection', (socket: Socket) => this.#secured(socket));
  }

  /**
   * Registers a request, which is in progress until its response closes; for a connection without responses, until it
   * closes itself.
   * @returns false if the connection has too many requests, and is therefore closed
   */
  begin(socket: Socket, response: Stream): boolean {
    const accepted = acceptedOf(socket);
    const watched = this.#watched.get(accepted);
    const isOver = watched === undefined || watched.requests >= this.#bounds.requests;
    if (isOver) stopParsing(socket);
    // it is being closed
    if (watched === undefined) return false;
    if (isOver) return !this.#end(accepted);
    countRequest(watched, 1);
    if (response instanceof http.ServerResponse)
      watched.last = { request: response.req, writtenBefore: socket.bytesWritten };
    response.once('close', () => {
      if (watched.requests === 1) watched.last = undefined;
      countRequest(watched, -1);
      if (this.#closing) endIdle(watched);
    });
    return true;
  }

  /** Says that a request in progress was refused: its connection gives way before all others. */
  refused(socket: Socket, response: Stream): void {
    const watched = this.#watched.get(acceptedOf(socket));
    if (watched === undefined) return;
    watched.refused += 1;
    response.once('close', () => {
      watched.refused -= 1;
    });
  }

  /** Ends each connection as soon as it has no request in progress, and the last ones after `graceMs`. */
  close(graceMs?: number): void {
    this.#closing = true;
    for (const watched of this.#watched.values()) endIdle(watched);
    if (graceMs === undefined) return;
    const late = () => {
      for (const accepted of this.#watched.keys()) this.#end(accepted);
    };
    setTimeout(late, graceMs).unref();
  }

  /** Ends the connection whose caller has been slow to send or to read for longest, if there is one. */
  endStale(): boolean {
    let stalest: Socket | undefined;
    let stalestSince = unbounded;
    for (const [accepted, watched] of this.#watched) {
      const since = watched.pace.slowSince(movedBy(accepted)) ?? unbounded;
      if (watched.requests === 0 || since >= stalestSince || !awaitsCaller(watched)) continue;
      stalest = accepted;
      stalestSince = since;
    }
    return stalest !== undefined && this.#end(stalest);
  }

  /** Ends one connection, in the order of `guard`, because its memory is needed. @returns false if none gives way */
  endOne(): boolean {
    return this.#endFor(undefined);
  }

  #endFor(newcomer: string | undefined): boolean {
    return this.#endOfGreediest(newcomer) ?? (this.#endIdle() || this.endStale());
  }

  #admit(accepted: Socket, isTls: boolean): boolean {
    if (this.#closing) return !accepted.destroy();
    const release = this.#makeRoom(accepted, isTls);
    if (release === undefined) resetSocket(accepted);
    else this.#watch(accepted, isTls ? peerOf(accepted) : undefined, release);
    return release !== undefined;
  }

  #watch(accepted: Socket, handshake: string | undefined, release: () => void): void {
    const pace = new Pace({ bytes: 1, ms: this.#bounds.staleMs }, 0);
    const acceptedAt = performance.now();
    const idle = {
      acceptedAt,
      requests: 0,
      refused: 0,
      last: undefined,
      readBefore: 0,
      idleSince: acceptedAt,
      pace,
      release,
    };
    this.#watched.set(accepted, { socket: accepted, handshake, ...idle });
    if (handshake !== undefined) this.#handshakes.set(handshake, accepted);
    accepted.once('close', () => this.#forget(accepted));
  }

  /** Ends others where that is needed. */
  #makeRoom({ remoteAddress }: Socket, isTls: boolean): (() => void) | undefined {
    const [oldest] = this.#handshakes.values();
    if (isTls && oldest !== undefined && this.#handshakes.size >= this.#bounds.handshakes) this.#end(oldest);
    const isFull = this.#watched.size >= this.#bounds.connections;
    if (isFull && !this.#endFor(remoteAddress)) return undefined;
    const { hold } = this.#bounds;
    return hold() ?? (this.#endFor(remoteAddress) ? hold() : undefined);
  }

  /**
   * Only an address with several connections is greedy.
   * @param newcomer the address for whose connection another is to end
   * @returns undefined if there is no such address, false if it gives up none
   */
  #endOfGreediest(newcomer: string | undefined): boolean | undefined {
    if (!this.#bounds.shared) return undefined;
    const byAddress = Map.groupBy(this.#watched, ([{ remoteAddress }]) => remoteAddress);
    let greediest: [Socket, WatchedConnection][] = [];
    for (const own of byAddress.values()) if (own.length > greediest.length) greediest = own;
    const [first, second] = greediest;
    if (first === undefined || second === undefined) return undefined;
    const grown = performance.now() - this.#bounds.staleMs;
    const isOwn = newcomer === first[0].remoteAddress;
    const among = isOwn ? greediest.filter(([, { acceptedAt }]) => acceptedAt <= grown) : greediest;
    const [oldest] = among;
    return oldest !== undefined && (this.#endIdle(among) || this.#end(oldest[0]));
  }

  /** Runs within OpenSSL: nothing may end the connection here. */
  #secured(socket: Socket): void {
    const accepted = this.#handshakes.get(peerOf(socket));
    const watched = accepted && this.#watched.get(accepted);
    if (accepted === undefined || watched === undefined) return;
    secureAccepted(accepted, socket);
    this.#endHandshake(accepted, watched);
    watched.socket = socket;
  }

  #endHandshake(accepted: Socket, watched: WatchedConnection): void {
    const { handshake } = watched;
    // the port may have been used again
    if (handshake !== undefined && this.#handshakes.get(handshake) === accepted)
      this.#handshakes.delete(handshake);
    watched.handshake = undefined;
  }

  #endIdle(among: Iterable<[Socket, WatchedConnection]> = this.#watched): boolean {
    let found: [Socket, WatchedConnection] | undefined;
    for (const [accepted, watched] of among) {
      if (watched.requests > watched.refused) continue;
      if (found === undefined || givesWayBefore(watched, found[1])) found = [accepted, watched];
    }
    return found !== undefined && this.#end(found[0]);
  }

  /** Closes immediately, because the connection's memory is needed. */
  #end(accepted: Socket): true {
    resetSocket(this.#watched.get(accepted)?.socket ?? accepted);
    this.#forget(accepted);
    return true;
  }

  #forget(accepted: Socket): void {
    const watched = this.#watched.get(accepted);
    if (watched !== undefined) this.#endHandshake(accepted, watched);
    if (this.#watched.delete(accepted)) watched?.release();
  }
}
