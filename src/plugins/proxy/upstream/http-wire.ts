import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { resetConnection, whenConnected } from './connections.ts';
import { AnsweredEarly, isClosed, WireError } from './failures.ts';
import type { WireLimits } from './limits.ts';
import type { Wire } from './wire.ts';

/**
 * Two turns of the event loop, each of which reads what has come. A store that refuses a body
 * answers and closes; a write that meets the closed connection would lose the answer with it.
 */
const arrivals = () => new Promise((resolve) => setImmediate(setImmediate, resolve));

/** A request of `node:http` with the bounds and the reset that it lacks. */
export class HttpWire implements Wire {
  readonly response: Promise<IncomingMessage>;
  readonly #settle = Promise.withResolvers<IncomingMessage>();
  readonly agreed: Promise<void>;
  readonly #request: ClientRequest;
  readonly #limits: WireLimits;
  #failure: Error | undefined;
  #answer: IncomingMessage | undefined;
  #ended = false;
  /** Settles the write that waits for the connection. */
  #wake: (() => void) | undefined;

  constructor(request: ClientRequest, limits: WireLimits, signal: AbortSignal | undefined) {
    this.#request = request;
    this.#limits = limits;
    this.response = this.#settle.promise;
    this.response.catch(() => undefined);
    this.#expectAnswer();
    const connected = this.#connected();
    this.agreed = this.#agreement(connected);
    this.#abortWith(signal);
  }

  get stale(): boolean {
    return this.#request.reusedSocket && !this.#answer && isClosed(this.#failure);
  }

  async write(buffer: Uint8Array): Promise<void> {
    await arrivals();
    this.#check();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#request.write(buffer, () => resolve());
    });
    this.#wake = undefined;
    this.#check();
  }

  end(buffers: readonly Uint8Array[]): void {
    this.#check();
    this.#ended = true;
    this.#request.cork();
    for (const buffer of buffers) this.#request.write(buffer);
    this.#request.end();
    this.#request.uncork();
  }

  reset(reason: Error): void {
    this.#fail(reason);
    const { socket } = this.#request;
    if (socket && !socket.destroyed) resetConnection(socket);
    this.#answer?.destroy(reason);
    this.#request.destroy(reason);
  }

  #check(): void {
    if (this.#answer) throw new AnsweredEarly();
    if (this.#failure) throw this.#failure;
  }

  /** Rejects here too: a request that waits for a connection emits no error before it gets one. */
  #fail(error: Error): void {
    this.#failure ??= error;
    this.#settle.reject(this.#failure);
    this.#wake?.();
  }

  #expectAnswer(): void {
    this.#request.on('error', (error) => this.#fail(error));
    this.#request.once('close', () => {
      if (!this.#answer) this.#fail(new WireError('ECONNRESET', 'the store closed the connection'));
    });
    this.#request.once('response', (answer: IncomingMessage) => {
      this.#answer = answer;
      if (!this.#ended) this.#resetAfter(answer);
      this.#settle.resolve(answer);
      this.#wake?.();
    });
  }

  /** What is left of the body will not be sent: the connection cannot serve another request. */
  #resetAfter(answer: IncomingMessage): void {
    const reset = () => this.reset(new AnsweredEarly());
    answer.once('end', reset);
    answer.once('close', reset);
  }

  #connected(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = () => this.reset(new WireError('ETIMEDOUT', 'no connection to the store in time'));
    const timer = setTimeout(late, this.#limits.connectMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    this.#request.once('close', done);
    this.#request.once('socket', (socket: Socket) => {
      this.#watchIdle(socket);
      whenConnected(socket, done);
    });
    return promise;
  }

  async #agreement(connected: Promise<void>): Promise<void> {
    if (!this.#request.hasHeader('expect')) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#request.once('continue', resolve);
    this.response.then(
      () => resolve(),
      () => resolve(),
    );
    await connected;
    const timer = setTimeout(resolve, this.#limits.continueMs);
    await promise;
    clearTimeout(timer);
  }

  /**
   * Two looks in a row: a caller that takes what waited here just before a look leaves nothing
   * behind either, and the store may be about to send more.
   */
  #watchIdle(socket: Socket): void {
    const lookMs = this.#limits.idleMs / 2;
    let silentSince = -1;
    const look = () => {
      const moved = socket.bytesRead + socket.bytesWritten;
      const silent = this.#awaitsStore();
      if (silent && moved === silentSince)
        return this.reset(new WireError('ETIMEDOUT', 'the store has sent nothing for long'));
      silentSince = silent ? moved : -1;
      socket.setTimeout(lookMs);
    };
    socket.setTimeout(lookMs);
    socket.on('timeout', look);
    this.#request.once('close', () => socket.off('timeout', look));
  }

  /** False while it is a slow caller that keeps the connection quiet, sending or taking. */
  #awaitsStore(): boolean {
    if (this.#answer) return this.#answer.readableLength === 0;
    return this.#ended || this.#wake !== undefined;
  }

  #abortWith(signal: AbortSignal | undefined): void {
    if (!signal) return;
    const abort = () => this.reset(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    this.#request.once('close', () => signal.removeEventListener('abort', abort));
  }
}
