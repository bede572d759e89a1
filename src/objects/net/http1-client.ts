import {
  type ConnectionEvents,
  Http1Connection,
  type HttpTarget,
  type TlsSessions,
} from './http1-connection.ts';

/** Limits on connections to one server; times in milliseconds. */
export interface ClientLimits {
  /** Maximum number of connections; further requests wait for one within `connectMs`. */
  readonly sockets: number;
  /** Time until a connection is established, including the wait for a free one and the TLS handshake. */
  readonly connectMs: number;
  /** Time that an unused connection is kept. */
  readonly keptMs: number;
}

/** Callbacks of a request that waits for a connection; at most one of them is called, once. */
export interface ConnectionWaiter {
  connected(connection: Http1Connection): void;
  failed(error: Error): void;
}

/** A watcher that is called periodically. */
export interface Watched {
  /** @param now from `performance.now()` */
  look(now: number): void;
}

interface Waiting {
  readonly waiter: ConnectionWaiter;
  readonly since: number;
}

/** Timeouts are detected late by at most this share of the shortest one. */
const lateness = 1 / 4;
const longestTickMs = 500;

/**
 * Kept connections to one server, for frequent requests: a request takes one callback object and no timer of its own.
 * The most recently used connection is reused first, so that the others expire.
 */
export class Http1Client {
  readonly #target: HttpTarget;
  readonly #limits: ClientLimits;
  readonly #session: TlsSessions = { ticket: undefined };
  /** With the time at which each began to connect. */
  readonly #connecting = new Map<Http1Connection, number>();
  readonly #connections = new Set<Http1Connection>();
  /** Oldest first, with the time at which each became idle. */
  readonly #idle = new Map<Http1Connection, number>();
  readonly #waiting = new Set<Waiting>();
  readonly #watched = new Set<Watched>();
  readonly #tickMs: number;
  #ticker: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param shortestMs shortest of the timeouts that watchers detect */
  constructor(target: HttpTarget, limits: ClientLimits, shortestMs: number) {
    this.#target = target;
    this.#limits = limits;
    this.#tickMs = Math.min(longestTickMs, Math.max(1, Math.min(shortestMs, limits.connectMs) * lateness));
  }

  /** Passes a free connection to the waiter, at once if there is one. @returns a function that cancels the wait */
  acquire(waiter: ConnectionWaiter): () => void {
    const kept = this.#takeIdle();
    if (kept !== undefined) {
      waiter.connected(kept);
      return () => undefined;
    }
    const waiting = { waiter, since: performance.now() };
    this.#waiting.add(waiting);
    this.#tick();
    this.#openMore();
    return () => void this.#waiting.delete(waiting);
  }

  /** Calls `look` at every tick, until `unwatch`. */
  watch(watched: Watched): void {
    this.#watched.add(watched);
    this.#tick();
  }

  unwatch(watched: Watched): void {
    this.#watched.delete(watched);
  }

  close(): void {
    this.#closed = true;
    for (const { waiter } of [...this.#waiting]) waiter.failed(closedHere());
    this.#waiting.clear();
    for (const connection of [...this.#connections]) connection.reset(closedHere());
    clearInterval(this.#ticker);
  }

  #takeIdle(): Http1Connection | undefined {
    let last: Http1Connection | undefined;
    for (const connection of this.#idle.keys()) last = connection;
    if (last !== undefined) this.#idle.delete(last);
    return last;
  }

  #openMore(): void {
    if (this.#closed) return;
    while (this.#connecting.size < this.#waiting.size && this.#connections.size < this.#limits.sockets)
      this.#open();
  }

  #open(): void {
    const events: ConnectionEvents = {
      opened: () => {
        this.#connecting.delete(connection);
        this.#offer(connection);
      },
      free: () => this.#offer(connection),
      failed: (error) => this.#failed(connection, error),
      closed: () => this.#gone(connection),
    };
    const connection = new Http1Connection(this.#target, this.#session, events);
    this.#connections.add(connection);
    this.#connecting.set(connection, performance.now());
  }

  #offer(connection: Http1Connection): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      connection.rest();
      this.#idle.set(connection, performance.now());
      this.#tick();
      return;
    }
    this.#waiting.delete(next);
    next.waiter.connected(connection);
  }

  /**
   * A connection that could not be established fails the request that has waited longest, because one is opened for
   * each.
   */
  #failed(connection: Http1Connection, error: Error): void {
    this.#idle.delete(connection);
    if (!this.#connecting.delete(connection)) return;
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next.waiter.failed(error);
  }

  #gone(connection: Http1Connection): void {
    this.#idle.delete(connection);
    this.#connecting.delete(connection);
    this.#connections.delete(connection);
    this.#openMore();
  }

  #tick(): void {
    this.#ticker ??= setInterval(() => this.#look(), this.#tickMs).unref();
  }

  #look(): void {
    const now = performance.now();
    const { connectMs, keptMs } = this.#limits;
    for (const [connection, since] of this.#connecting)
      if (now - since >= connectMs) connection.reset(timedOut('no connection to the server in time'));
    for (const waiting of this.#waiting) {
      if (now - waiting.since < connectMs) continue;
      this.#waiting.delete(waiting);
      waiting.waiter.failed(timedOut('no free connection to the server in time'));
    }
    for (const [connection, since] of this.#idle) if (now - since >= keptMs) this.#expire(connection);
    for (const watched of this.#watched) watched.look(now);
    if (this.#connecting.size + this.#waiting.size + this.#idle.size + this.#watched.size > 0) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }

  #expire(connection: Http1Connection): void {
    this.#idle.delete(connection);
    connection.close();
  }
}

/** A timeout error with the operating system's code. */
export const timedOut = (message: string): Error => Object.assign(new Error(message), { code: 'ETIMEDOUT' });

const closedHere = (): Error => Object.assign(new Error('the client was closed'), { code: 'ECONNABORTED' });
