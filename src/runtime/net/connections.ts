import type http from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction, Server, Socket } from 'node:net';
import { formatListenAddress, type ListenAddress } from '../../core/settings/listen-address.ts';

export interface ConnectionBounds {
  /** Maximum number of connections. */
  readonly connections: number;
  /**
   * Maximum requests in progress on one connection; clients rarely send the next one before the response (pipelining).
   */
  readonly requests: number;
  /** Milliseconds without traffic after which a request may be ended for the sake of another. */
  readonly staleMs: number;
}

interface Watched {
  requests: number;
  /** `bytesRead` at the end of the last request: if more was read, the next head is incomplete. */
  readBefore: number;
  idleSince: number;
  /** Bytes read and written up to the last check. */
  moved: number;
  movedAt: number;
}

const unbounded: ConnectionBounds = {
  connections: Number.POSITIVE_INFINITY,
  requests: Number.POSITIVE_INFINITY,
  staleMs: Number.POSITIVE_INFINITY,
};

/**
 * The connections of a server with their requests in progress. `node:http` counts a connection that never sent a byte
 * as busy, and would wait for it at shutdown.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #watched = new Map<Socket, Watched>();
  #closing = false;

  constructor(bounds: ConnectionBounds = unbounded) {
    this.#bounds = bounds;
  }

  /**
   * Adds a connection. One above the limit ends the slowest connection with an unfinished head, else the longest idle
   * one, else the longest stale one.
   */
  add(socket: Socket): void {
    if (this.#watched.size >= this.#bounds.connections && !this.#endIdleOrStale()) {
      resetSocket(socket);
      return;
    }
    const now = performance.now();
    this.#watched.set(socket, { requests: 0, readBefore: 0, idleSince: now, moved: 0, movedAt: now });
    socket.once('close', () => this.#watched.delete(socket));
    if (this.#closing) socket.destroy();
  }

  /**
   * Registers a request, which is in progress until its response closes.
   * @returns false if the connection has too many requests, and is therefore closed
   */
  begin(socket: Socket, response: ServerResponse): boolean {
    const watched = this.#watched.get(socket);
    if (watched === undefined || watched.requests >= this.#bounds.requests) {
      this.#end(socket);
      return false;
    }
    this.#count(socket, 1);
    response.once('close', () => {
      this.#count(socket, -1);
      if (this.#closing) this.#endIdle(socket);
    });
    return true;
  }

  /** Ends each connection as soon as it has no request in progress. */
  close(): void {
    this.#closing = true;
    for (const socket of this.#watched.keys()) this.#endIdle(socket);
  }

  #count(socket: Socket, by: 1 | -1): void {
    const watched = this.#watched.get(socket);
    if (watched === undefined) return;
    watched.requests += by;
    watched.readBefore = socket.bytesRead;
    watched.idleSince = performance.now();
  }

  /** Sends pending responses first. */
  #endIdle(socket: Socket): void {
    if (this.#watched.get(socket)?.requests === 0) socket.destroySoon();
  }

  #endIdleOrStale(): boolean {
    const idle = [...this.#watched].filter(([, { requests }]) => requests === 0);
    const unfinished = idle.filter(([socket, { readBefore }]) => socket.bytesRead > readBefore);
    const [oldest] = (unfinished.length > 0 ? unfinished : idle).sort(
      ([, one], [, other]) => one.idleSince - other.idleSince,
    );
    return oldest === undefined ? this.endStale() : this.#end(oldest[0]);
  }

  /** Ends the connection whose request has stalled longest, if there is one. */
  endStale(): boolean {
    const now = performance.now();
    let stalest: [Socket, Watched] | undefined;
    for (const [socket, watched] of this.#watched) {
      const moved = socket.bytesRead + socket.bytesWritten;
      if (moved !== watched.moved) Object.assign(watched, { moved, movedAt: now });
      if (watched.requests === 0 || now - watched.movedAt < this.#bounds.staleMs) continue;
      if (stalest === undefined || watched.movedAt < stalest[1].movedAt) stalest = [socket, watched];
    }
    return stalest !== undefined && this.#end(stalest[0]);
  }

  /** Closes immediately, because the connection's memory is needed. */
  #end(socket: Socket): true {
    this.#watched.delete(socket);
    resetSocket(socket);
    return true;
  }
}

const carriers = new WeakMap<Socket, Socket>();

/** Registers the TCP connection below a TLS socket, for `resetSocket`. */
export function carry(socket: Socket, carrier: Socket): void {
  carriers.set(socket, carrier);
}

/**
 * Closes a connection by RST, so that the peer cannot mistake a part for the whole. After a FIN, libuv refuses to
 * reset, and Node 24 would leave the socket open and spin at its exit; such a socket is closed normally.
 * @param carrier the TCP connection below a TLS socket, since only that can be reset
 */
export function resetSocket(socket: Socket, carrier = carriers.get(socket) ?? socket): void {
  if (!isEnding(socket) && !isEnding(carrier)) carrier.resetAndDestroy();
  socket.destroy();
}

const isEnding = ({ writableEnded, writableFinished }: Socket): boolean => writableEnded && !writableFinished;

/** Node's default backlog of connections to accept. */
const usualBacklog = 511;

/**
 * Starts listening, and returns the address with the actual port: `127.0.0.1:8191`, `[::]:8191`. Later failures to
 * accept, for lack of descriptors or memory, are ignored.
 * @param refused makes the error to throw if the address is not available
 */
export async function listenAt(
  server: Server,
  { host, port }: ListenAddress,
  refused: (cause: NodeJS.ErrnoException) => Error,
  backlog: number = usualBacklog,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.on('error', (cause) => reject(refused(cause)));
    server.listen({ host, port, backlog }, resolve);
  });
  const bound = server.address() as AddressInfo;
  return formatListenAddress({ host: bound.address, port: bound.port });
}

type Connect = (...parameters: Parameters<http.Agent['createConnection']>) => Socket;

const ignored = (): void => undefined;

/**
 * Node removes its error listener from a kept connection when a response ends. A request aborted at that moment would
 * destroy the connection with an unhandled error, which ends the process.
 */
export function outliveAborts<T extends http.Agent>(agent: T): T {
  const connect = agent.createConnection.bind(agent) as Connect;
  agent.createConnection = (options, callback) => connect(options, callback).on('error', ignored);
  return agent;
}

const loopback = '127.0.0.1';

const localhost: LookupFunction = (_name, { all }, callback) =>
  all ? callback(null, [{ address: loopback, family: 4 }]) : callback(null, loopback, 4);

/**
 * Lookup function for a host; undefined for the system's. Unencrypted traffic must only go to loopback addresses, but
 * others may be able to write a container's /etc/hosts and redirect `localhost`. It is resolved to one loopback address
 * only, since others could listen on the second one while the server is up.
 */
export const lookupOf = (host: string): LookupFunction | undefined =>
  host.toLowerCase() === 'localhost' ? localhost : undefined;
