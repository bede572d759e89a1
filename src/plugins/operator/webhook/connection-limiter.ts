import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import { interceptAccepted, peerOf } from '../../../runtime/net/accepted-sockets.ts';

/** Sockets that wait for their handshake need little memory. The limit is above what any cluster opens. */
const maxQueued = 1_000;
/** One in so many places is kept for callers of other addresses. */
const placesPerReserved = 12;
/** If no review was decided for this long, connections without a complete request are closed for waiting ones. */
const stallMs = 3_000;
/** Minimum time for a connection to send its request. */
const turnMs = 1_500;
/** The same if this replica had little time to read the request; less than API servers wait for a response. */
const busyTurnMs = 7_000;
/** Utilization of the event loop above which a silent connection proves nothing. */
const busyShare = 0.5;
/** Time for a TLS handshake while others wait: an API server's takes some ms, and its review ends after 10 s. */
const handshakeMs = 2_000;
const checkMs = 1_000;
/** A connection that was just answered may be receiving the next request, which closing would lose. */
const idleMs = 2_000;

export interface ConnectionLimiter {
  /** Closes the waiting connections. */
  close(): void;
}

/** `unfinished`: no complete request received yet. */
type State = 'unfinished' | 'answering' | 'idle';

interface Connection {
  readonly socket: Socket;
  readonly address: string | undefined;
  readonly isInHandshake: boolean;
  /** It has not sent a complete request yet. */
  readonly isNew: boolean;
  readonly state: State;
  /** In ms. */
  readonly since: number;
}

interface Clock {
  /** In ms; monotonic. */
  now(): number;
  /** Runs `work` once all data that has arrived by now has been read. */
  later(work: () => void): void;
  /** Share of the time since the last call in which the event loop was busy or was not scheduled: 0 to 1. */
  utilization(): number;
}

/**
 * Limits the number of connections, each of which takes tens of KiB besides its request; more wait before their
 * handshake. While connections wait, each response asks the caller to close its connection, and after a second those
 * that have been idle for a while are closed: not at once, since an API server with a burst of reviews sends on its idle
 * connections while it opens others. If no review is decided for some time, connections without a complete request are
 * closed, too: silent ones must not keep the API server out.
 *
 * Nor must those of one address: connections that have not sent a request yet leave some places to other addresses, and
 * those that wait are let in from the address with the fewest of them. A slow handshake is closed only for the sake of
 * an address with fewer: an API server without time for its handshakes would not be helped by losing them. If the
 * process itself was not scheduled, a request may have arrived without being read, so nothing is closed before all data
 * has been read.
 */
export function makeRoom(server: Server, most: number, clock = systemClock()): ConnectionLimiter {
  const { now, later } = clock;
  const reserved = Math.ceil(most / placesPerReserved);
  const queue = new WaitingConnections();
  /** Least recently used first. */
  const connections = new Map<string, Connection>();
  let decided = 0;
  let watching: NodeJS.Timeout | undefined;

  const secure = interceptAccepted(server, (socket) => {
    const name = peerOf(socket);
    queue.add(socket);
    socket.once('close', () => leave(socket, name));
    if (queue.size > maxQueued) queue.endOneOfMost();
    letIn();
  });
  // also called within OpenSSL, where nothing may be ended
  server.prependListener('secureConnection', (socket: Socket) => {
    const name = peerOf(socket);
    const connection = connections.get(name);
    if (connection !== undefined) connections.set(name, { ...connection, isInHandshake: false });
  });
  // before the handler that answers
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const name = peerOf(request.socket);
    if (queue.size > 0) response.setHeader('connection', 'close');
    // for the next request on an idle connection
    become(name, 'unfinished');
    const whole = () => become(name, 'answering');
    request.once('end', whole);
    response.once('close', () => {
      // a request that was answered without being read ends later
      request.off('end', whole);
      // refused and abandoned requests do not show that reviews make progress
      if (response.writableFinished && response.statusCode === 200) decided += 1;
      become(name, 'idle');
      letIn();
    });
  });
  return {
    close() {
      queue.end();
      clearInterval(watching);
    },
  };

  function letIn(): void {
    while (connections.size < most) {
      const socket = queue.next(countNew(), most - connections.size, reserved);
      if (socket === undefined) break;
      const { remoteAddress: address } = socket;
      const begun = { state: 'unfinished', isInHandshake: true, isNew: true, since: now() } as const;
      connections.set(peerOf(socket), { socket, address, ...begun });
      secure(socket);
    }
    watch();
  }

  /** Runs while connections wait. */
  function watch(): void {
    if ((watching !== undefined) === queue.size > 0) return;
    clearInterval(watching);
    watching = undefined;
    if (queue.size === 0) return;
    const seen = { until: decided, sinceMs: 0, isBusy: false };
    watching = setInterval(() => {
      seen.sinceMs += checkMs;
      later(() => {
        const isBusy = clock.utilization() > busyShare;
        seen.isBusy ||= isBusy;
        const idle = breakOff(isIdle, queue.size, idleMs);
        const slow = breakOff(isSlowInCrowd(), queue.size - idle, isBusy ? busyTurnMs : handshakeMs);
        if (idle + slow > 0) letIn();
      });
      if (seen.sinceMs < stallMs) return;
      seen.sinceMs = 0;
      endStall(seen);
    }, checkMs);
  }

  /** In its handshake, from an address with more such connections than one that waits. */
  function isSlowInCrowd(): (one: Connection) => boolean {
    const newOf = countNew();
    const fewest = queue.fewest(newOf);
    return ({ isInHandshake, address }) => isInHandshake && countOf(newOf, address) > fewest;
  }

  function countNew(): NewConnections {
    const counts = new Map<string | undefined, number>();
    for (const { address, isNew } of connections.values())
      if (isNew) counts.set(address, (counts.get(address) ?? 0) + 1);
    return counts;
  }

  function endStall(seen: { until: number; isBusy: boolean }): void {
    later(() => {
      const turn = seen.isBusy ? busyTurnMs : turnMs;
      seen.isBusy = false;
      if (seen.until === decided) breakOff(isUnfinished, queue.size, turn);
      seen.until = decided;
      letIn();
    });
  }

  /** @param forMs minimum time in this state @returns how many connections were closed */
  function breakOff(isMeant: (one: Connection) => boolean, count: number, forMs: number): number {
    const latest = now() - forMs;
    const found = [...connections].filter(([, one]) => isMeant(one) && one.since <= latest).slice(0, count);
    for (const [name, { socket }] of found) {
      // its TLS socket closes by itself
      connections.delete(name);
      socket.destroy();
    }
    return found.length;
  }

  function become(name: string, state: State): void {
    const connection = connections.get(name);
    if (connection === undefined) return;
    connections.delete(name);
    const isNew = connection.isNew && state === 'unfinished';
    connections.set(name, { ...connection, state, isNew, since: now() });
  }

  function leave(socket: Socket, name: string): void {
    queue.remove(socket);
    if (connections.get(name)?.socket === socket) connections.delete(name);
    letIn();
  }
}

const isIdle = ({ state }: Connection): boolean => state === 'idle';
const isUnfinished = ({ state }: Connection): boolean => state === 'unfinished';

/** How many connections that have not sent a request yet each address has. */
type NewConnections = ReadonlyMap<string | undefined, number>;

const countOf = (counts: NewConnections, address: string | undefined): number => counts.get(address) ?? 0;

/** Connections that wait, by address. */
class WaitingConnections {
  readonly #byAddress = new Map<string | undefined, Set<Socket>>();
  size = 0;

  add(socket: Socket): void {
    const { remoteAddress: address } = socket;
    const own = this.#byAddress.get(address) ?? new Set();
    // an address whose first one begins to wait comes last
    this.#byAddress.set(address, own.add(socket));
    this.size += 1;
    addresses.set(socket, address);
  }

  remove(socket: Socket): void {
    const address = addresses.get(socket);
    const own = this.#byAddress.get(address);
    if (!own?.delete(socket)) return;
    this.size -= 1;
    if (own.size === 0) this.#byAddress.delete(address);
  }

  /**
   * Takes the first of the address with the fewest new connections; none of an address that would thereby have one of
   * the reserved places, unless it has no more than are free.
   */
  next(newOf: NewConnections, free: number, reserved: number): Socket | undefined {
    const fewest = this.fewest(newOf);
    if (fewest > free && free <= reserved) return undefined;
    for (const [address, [first]] of this.#byAddress) {
      if (first === undefined || countOf(newOf, address) > fewest) continue;
      this.remove(first);
      return first;
    }
    return undefined;
  }

  /** New connections of the address that waits and has fewest. */
  fewest(newOf: NewConnections): number {
    let fewest = Number.POSITIVE_INFINITY;
    for (const address of this.#byAddress.keys()) fewest = Math.min(fewest, countOf(newOf, address));
    return fewest;
  }

  /** The address with most ends its oldest one. */
  endOneOfMost(): void {
    let most = new Set<Socket>();
    for (const own of this.#byAddress.values()) if (own.size > most.size) most = own;
    const [oldest] = most;
    oldest?.destroy();
  }

  end(): void {
    for (const own of this.#byAddress.values()) for (const socket of own) socket.destroy();
  }
}

/** As it was when the connection was accepted: a closed socket has none. */
const addresses = new WeakMap<Socket, string | undefined>();

function systemClock(): Clock {
  let last = performance.eventLoopUtilization();
  return {
    now: () => performance.now(),
    // the current turn of the event loop ends, then everything that has arrived is read
    later: (work) => void setImmediate(() => setImmediate(work)),
    utilization() {
      const current = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(current, last);
      last = current;
      return utilization;
    },
  };
}
