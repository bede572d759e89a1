import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { ByteSink } from '../../../core/http1/byte-sink.ts';
import { ResponseReader } from '../../../core/http1/response-reader.ts';
import { overwriteStackSoon } from '../../memory/overwrite-stack.ts';
import type { ByteBlock, ByteMemory } from '../../memory/wiped-memory.ts';
import type { VaultConnection } from '../connection.ts';
import { VaultError } from '../errors.ts';
import { SecretBuffer } from './secret-buffer.ts';
import { brokenExchange, noAnswer } from './socket-failure.ts';

/** What the key server answered; the body lies in secret memory until it is released. */
export interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: SecretBuffer;
}

/** The connection had been used before and ended without a byte of this answer: a fresh one may do. */
export class StaleConnection extends VaultError {
  constructor(host: string) {
    super('unavailable', `No answer from ${host}: it ended the connection`);
  }
}

export interface SocketOptions {
  readonly connection: VaultConnection;
  /** Undefined: without TLS. */
  readonly secureContext: SecureContext | undefined;
  readonly memory: ByteMemory;
}

interface Job {
  readonly reader: ResponseReader;
  readonly body: SecretBuffer;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  readonly settle: () => void;
  received: boolean;
}

const inputBytes = 8192;
const maxHeadBytes = 32 * 1024;

/** One connection to the key server. What comes in is read straight into secret memory, what goes out is written from it. */
export class SecretSocket {
  readonly #options: SocketOptions;
  readonly #input: ByteBlock;
  readonly #request: SecretBuffer;
  readonly #socket: Socket;
  readonly #opened = Promise.withResolvers<void>();
  #connectTimer: NodeJS.Timeout | undefined;
  #job: Job | undefined;
  #used = false;
  #written = true;
  #error: unknown;

  /** @param onClosed is called once, after the last use of its memory */
  constructor(options: SocketOptions, onClosed: () => void) {
    this.#options = options;
    this.#input = options.memory.allocate(inputBytes);
    this.#request = new SecretBuffer(options.memory);
    this.#socket = this.#connect();
    this.#socket.setNoDelay(true);
    this.#opened.promise.catch(() => undefined);
    this.#socket.on('error', (error) => this.#fail(error, true));
    this.#socket.once('end', () => this.#ended());
    this.#socket.once('close', () => this.#closed(onClosed));
    this.#boundConnecting();
  }

  /** Settles when requests can be sent. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  get usable(): boolean {
    return this.#job === undefined && this.#error === undefined && !this.#socket.destroyed;
  }

  get #host(): string {
    return this.#options.connection.address.host;
  }

  /**
   * Sends what `write` writes and reads the answer. One at a time.
   * @throws StaleConnection, VaultError of kind `unavailable`, or the signal's reason
   */
  exchange(
    write: (sink: ByteSink) => void,
    signal: AbortSignal | undefined,
    timeoutMs = this.#options.connection.requestTimeoutMs,
  ): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const { maxAnswerBytes } = this.#options.connection;
    const body = new SecretBuffer(this.#options.memory);
    const reader = new ResponseReader(body, { maxHead: maxHeadBytes, maxBody: maxAnswerBytes });
    const aborted = () => this.#fail(signal?.reason);
    const late = () => this.#fail(noAnswer(this.#host, `no complete answer within ${timeoutMs} ms`));
    const timer = setTimeout(late, timeoutMs);
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
    };
    signal?.addEventListener('abort', aborted, { once: true });
    this.#job = { reader, body, resolve, reject, settle, received: false };
    this.#send(write);
    return promise;
  }

  /** An idle connection does not keep the process alive. */
  rest(): void {
    this.#socket.unref();
  }

  destroy(error: unknown): void {
    this.#fail(error);
  }

  #connect(): Socket {
    const { address, skipVerify } = this.#options.connection;
    const { secureContext } = this.#options;
    const host = address.hostname.replace(/^\[|\]$/g, '');
    const target = { host, port: Number(address.port || (secureContext ? 443 : 80)) };
    const onread = { buffer: this.#input.bytes, callback: (count: number) => this.#read(count) };
    if (secureContext === undefined) {
      return connect({ ...target, onread }).once('connect', () => this.#ready());
    }
    const trust = { secureContext, rejectUnauthorized: !skipVerify, servername: isIP(host) ? '' : host };
    const options = { ...target, ...trust, onread, ALPNProtocols: ['http/1.1'] };
    return connectTls(options, () => this.#ready());
  }

  #boundConnecting(): void {
    const { connectTimeoutMs } = this.#options.connection;
    const late = () => this.#fail(noAnswer(this.#host, `no connection within ${connectTimeoutMs} ms`));
    this.#connectTimer = setTimeout(late, connectTimeoutMs);
  }

  #ready(): void {
    clearTimeout(this.#connectTimer);
    this.#opened.resolve();
  }

  #send(write: (sink: ByteSink) => void): void {
    this.#socket.ref();
    try {
      write(this.#request);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#written = false;
    this.#socket.write(this.#request.bytes, () => {
      this.#written = true;
      this.#request.clear();
    });
  }

  #read(count: number): boolean {
    const bytes = this.#input.bytes.subarray(0, count);
    try {
      this.#take(bytes);
    } catch (error) {
      this.#fail(error);
    } finally {
      bytes.fill(0);
    }
    return true;
  }

  #take(bytes: Uint8Array): void {
    const job = this.#job;
    if (job === undefined) return this.#fail(noAnswer(this.#host, 'it spoke without being asked'));
    job.received = true;
    const surplus = job.reader.push(bytes) < bytes.length;
    if (job.reader.done) this.#finish(job, !surplus);
  }

  #ended(): void {
    const job = this.#job;
    try {
      job?.reader.end();
      if (job === undefined) this.#fail(this.#over());
      else this.#finish(job, false);
    } catch (error) {
      this.#fail(error, true);
    }
  }

  #closed(onClosed: () => void): void {
    this.#fail(this.#over(), true);
    this.#input.release();
    this.#request.release();
    onClosed();
  }

  #over(): VaultError {
    return noAnswer(this.#host, 'the connection is over');
  }

  #finish(job: Job, clean: boolean): void {
    const { head } = job.reader;
    this.#job = undefined;
    this.#used = true;
    job.settle();
    overwriteStackSoon();
    // A request that the server did not wait for lies in memory that the system still reads.
    if (!clean || !this.#written || !head?.keepAlive) this.#fail(this.#over());
    job.resolve({ status: head?.status ?? 0, location: head?.location, body: job.body });
  }

  /**
   * Ends the connection, and what waits for it. Its memory is released when the system has let go of it.
   * `lost`: the other side or the network ended it.
   */
  #fail(error: unknown, lost = false): void {
    clearTimeout(this.#connectTimer);
    this.#error ??= error;
    this.#socket.destroy();
    this.#opened.reject(brokenExchange(this.#host, error));
    const job = this.#job;
    this.#job = undefined;
    if (job === undefined) return;
    job.settle();
    job.body.release();
    overwriteStackSoon();
    const stale = lost && this.#used && !job.received;
    job.reject(stale ? new StaleConnection(this.#host) : brokenExchange(this.#host, error));
  }
}
