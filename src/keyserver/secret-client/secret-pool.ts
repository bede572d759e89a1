import { within } from '../../runtime/lifecycle/wait.ts';
import type { ByteMemory } from '../../runtime/memory.ts';
import type { ByteSink } from '../../runtime/net/http1-chunked-body.ts';
import type { TlsContext, VaultConnectionSettings } from '../connection.ts';
import { clientClosed, tooBusy } from '../contract.ts';
import { type SecretResponse, SecretSocket, StaleConnection } from './secret-socket.ts';

export interface PoolTimes {
  /**
   * Milliseconds after which idle connections are closed: a cipher's state holds some of the bytes read last, and
   * changed certificates take effect.
   */
  readonly idleMs: number;
  /**
   * Milliseconds that a request waits for a busy connection before another is opened: near a server, a handshake takes
   * longer than waiting.
   */
  readonly patienceMs: number;
}

const usualTimes: PoolTimes = { idleMs: 1_000, patienceMs: 15 };

/** Milliseconds to wait before opening another connection beside one that is still connecting. */
const longConnectingMs = 1_000;

type Waiter = PromiseWithResolvers<SecretSocket>;

/** A few kept connections. A request takes the first free one, whether or not it was opened for it. */
export class SecretPool {
  readonly #connection: VaultConnectionSettings;
  readonly #memory: ByteMemory;
  readonly #times: PoolTimes;
  readonly #tls: TlsContext | undefined;
  readonly #sockets = new Set<SecretSocket>();
  /** With the start of each attempt, from `performance.now()`. */
  readonly #connecting = new Map<SecretSocket, number>();
  readonly #idle = new Map<SecretSocket, NodeJS.Timeout>();
  readonly #waiting: Waiter[] = [];
  #closed = false;

  constructor(
    connection: VaultConnectionSettings,
    tls: TlsContext | undefined,
    memory: ByteMemory,
    times = usualTimes,
  ) {
    this.#connection = connection;
    this.#memory = memory;
    this.#times = times;
    this.#tls = tls;
  }

  /**
   * Makes one request, and repeats it once if a kept connection turns out to be dead.
   * @throws VaultError of kind `unavailable`; the signal's reason when aborted
   */
  async exchange(
    write: (sink: ByteSink) => void,
    signal: AbortSignal | undefined,
    timeoutMs = this.#connection.requestTimeoutMs,
  ): Promise<SecretResponse> {
    for (let left = this.#connection.maxSockets; ; left--) {
      try {
        return await this.#once(write, signal, timeoutMs);
      } catch (error) {
        if (!(error instanceof StaleConnection) || left === 0) throw error;
        for (const socket of this.#idle.keys()) socket.destroy(clientClosed());
      }
    }
  }

  close(): void {
    this.#closed = true;
    for (const socket of this.#sockets) socket.destroy(clientClosed());
    for (const waiter of this.#waiting.splice(0)) waiter.reject(clientClosed());
  }

  async #once(
    write: (sink: ByteSink) => void,
    signal: AbortSignal | undefined,
    timeoutMs: number,
  ): Promise<SecretResponse> {
    const socket = await this.#acquire(signal, timeoutMs);
    try {
      return await socket.exchange(write, signal, timeoutMs);
    } finally {
      if (socket.usable) this.#offer(socket);
    }
  }

  async #acquire(signal: AbortSignal | undefined, timeoutMs: number): Promise<SecretSocket> {
    signal?.throwIfAborted();
    if (this.#closed) throw clientClosed();
    const kept = this.#takeIdle();
    if (kept !== undefined) return kept;
    const waiter: Waiter = Promise.withResolvers();
    this.#waiting.push(waiter);
    const deadline = performance.now() + this.#connection.connectTimeoutMs + timeoutMs;
    const more = setInterval(() => this.#openFor(waiter), this.#times.patienceMs);
    try {
      if (this.#sockets.size === 0) this.#open();
      return await within(waiter.promise, deadline, signal, tooBusy);
    } catch (error) {
      this.#forget(waiter);
      throw error;
    } finally {
      clearInterval(more);
    }
  }

  /** Takes the most recently used connection, so that the others expire. */
  #takeIdle(): SecretSocket | undefined {
    const socket = [...this.#idle.keys()].findLast(({ usable }) => usable);
    if (socket === undefined) return undefined;
    clearTimeout(this.#idle.get(socket));
    this.#idle.delete(socket);
    return socket;
  }

  /** A connection may have been assigned at the same moment, and then passes to the next waiter. */
  #forget(waiter: Waiter): void {
    const index = this.#waiting.indexOf(waiter);
    if (index >= 0) this.#waiting.splice(index, 1);
    else waiter.promise.then((socket) => this.#offer(socket)).catch(() => undefined);
  }

  #openFor(waiter: Waiter): void {
    if (this.#isConnecting() || this.#sockets.size >= this.#connection.maxSockets) return;
    try {
      this.#open();
    } catch (error) {
      waiter.reject(error);
    }
  }

  /** A slow attempt to connect may never succeed, so another one is made. */
  #isConnecting(): boolean {
    const long = performance.now() - longConnectingMs;
    for (const begun of this.#connecting.values()) if (begun > long) return true;
    return false;
  }

  #open(): void {
    const secureContext = this.#tls?.current();
    const options = { connection: this.#connection, secureContext, memory: this.#memory };
    const socket = new SecretSocket(options, () => this.#gone(socket));
    this.#sockets.add(socket);
    this.#connecting.set(socket, performance.now());
    socket.opened
      .finally(() => this.#connecting.delete(socket))
      .then(() => this.#offer(socket))
      .catch((error) => this.#waiting.shift()?.reject(error));
  }

  #offer(socket: SecretSocket): void {
    const next = this.#waiting.shift();
    if (next !== undefined) return next.resolve(socket);
    socket.rest();
    this.#idle.set(socket, setTimeout(() => socket.destroy(clientClosed()), this.#times.idleMs).unref());
  }

  #gone(socket: SecretSocket): void {
    clearTimeout(this.#idle.get(socket));
    this.#idle.delete(socket);
    this.#sockets.delete(socket);
    const [next] = this.#waiting;
    if (next !== undefined) this.#openFor(next);
  }
}
