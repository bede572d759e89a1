import { connect, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { exitStatus } from '../../runtime/errors.ts';
import { type ByteBlock, type ByteMemory, overwriteStackSoon } from '../../runtime/memory.ts';
import { bareHost, lookupOf, serverNameOf } from '../../runtime/net/host-names.ts';
import { ResponseReader } from '../../runtime/net/http1.ts';
import { type ByteSink, HttpError } from '../../runtime/net/http1-chunked-body.ts';
import { retryAfter } from '../../runtime/net/retry-after.ts';
import type { VaultConnectionSettings } from '../connection.ts';
import {
  type Answered,
  certificateCode,
  NoAnswerInTime,
  VaultError,
  type VaultErrorOptions,
} from '../contract.ts';
import { SecretBuffer } from '../secret-buffer.ts';

/** A response of the secrets server; its body is in secret memory until released. */
export interface SecretResponse extends Answered {
  readonly location: string | undefined;
  readonly body: SecretBuffer;
}

/** A reused connection ended before the first byte of this response, so a new one may work. */
export class StaleConnection extends VaultError {
  constructor(host: string) {
    super('unavailable', `No answer from ${host}: it ended the connection`);
  }
}

export interface SocketOptions {
  readonly connection: VaultConnectionSettings;
  /** Undefined: no TLS. */
  readonly secureContext: SecureContext | undefined;
  readonly memory: ByteMemory;
}

interface Job {
  readonly reader: ResponseReader;
  readonly body: SecretBuffer;
  readonly resolve: (answer: SecretResponse) => void;
  readonly reject: (error: unknown) => void;
  readonly settle: () => void;
  received: boolean;
}

const inputBytes = 8192;
const maxHeadBytes = 32 * 1024;

/** One connection to the key server. It reads directly into secret memory and writes from it. */
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

  /** @param onClosed called once, after the last use of the connection's memory */
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
   * Sends the output of `write` and reads the response. Calls must not overlap.
   * @throws StaleConnection, VaultError of kind `unavailable`, or the signal's reason
   */
  exchange(
    write: (sink: ByteSink) => void,
    signal: AbortSignal | undefined,
    timeoutMs = this.#options.connection.requestTimeoutMs,
  ): Promise<SecretResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<SecretResponse>();
    const { maxAnswerBytes } = this.#options.connection;
    const body = new SecretBuffer(this.#options.memory);
    const reader = new ResponseReader(body, { maxHead: maxHeadBytes, maxBody: maxAnswerBytes });
    const aborted = () => this.#fail(signal?.reason);
    const late = () => this.#fail(noneInTime(this.#host, `no complete answer within ${timeoutMs} ms`));
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

  /** Lets the process exit despite this idle connection. */
  rest(): void {
    this.#socket.unref();
  }

  destroy(error: unknown): void {
    this.#fail(error);
  }

  #connect(): Socket {
    const { address, skipVerify } = this.#options.connection;
    const { secureContext } = this.#options;
    const host = bareHost(address);
    const port = Number(address.port || (secureContext ? 443 : 80));
    const target = { host, port, lookup: lookupOf(host) };
    const onread = { buffer: this.#input.bytes, callback: (count: number) => this.#read(count) };
    if (secureContext === undefined) {
      return connect({ ...target, onread }).once('connect', () => this.#ready());
    }
    const trust = { secureContext, rejectUnauthorized: !skipVerify, servername: serverNameOf(host) };
    const options = { ...target, ...trust, onread, ALPNProtocols: ['http/1.1'] };
    return connectTls(options, () => this.#ready());
  }

  #boundConnecting(): void {
    const { connectTimeoutMs } = this.#options.connection;
    const late = () => this.#fail(noneInTime(this.#host, `no connection within ${connectTimeoutMs} ms`));
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
    if (job === undefined) return this.#fail(noAnswer(this.#host, 'it sent data without a request'));
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
    // the system may still be reading the memory of a request that the server did not wait for
    if (!clean || !this.#written || !head?.keepAlive) this.#fail(this.#over());
    const { location, 'retry-after': header } = head?.headers ?? {};
    job.resolve({
      ...{ status: head?.status ?? 0, location, body: job.body },
      ...retryAfter(header),
    });
  }

  /**
   * Ends the connection and pending requests. Its memory is released once the kernel no longer reads from it.
   * @param lost the peer or the network ended the connection
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

/** The error for a broken exchange; a `cause` that is already one of ours is passed on. */
export function brokenExchange(host: string, cause: unknown): unknown {
  if (cause instanceof HttpError) {
    return new VaultError('unavailable', `No usable answer from ${host}: ${cause.message}`, { cause });
  }
  return isSystemError(cause) ? noAnswer(host, cause.code, cause) : cause;
}

/** @param reason a system error code, or words */
export const noAnswer = (host: string, reason: string, cause?: unknown): VaultError =>
  new VaultError('unavailable', `No answer from ${host}: ${reason}`, { cause, ...factsOf(reason) });

export const noneInTime = (host: string, reason: string): NoAnswerInTime =>
  new NoAnswerInTime(`No answer from ${host}: ${reason}`);

function isSystemError(cause: unknown): cause is Error & { code: string } {
  return (
    cause instanceof Error && typeof (cause as NodeJS.ErrnoException).code === 'string' && !('kind' in cause)
  );
}

/** Codes of Node and OpenSSL for a server certificate that cannot be verified. */
const untrusted = /CERT|ISSUER|VERIFY|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/;
const unwanted = /ALERT_.*CERT|ALERT_UNKNOWN_CA/;
const certificate = { code: certificateCode, exitStatus: exitStatus.config } as const;

function factsOf(reason: string): Pick<VaultErrorOptions, 'nextStep' | 'code' | 'exitStatus'> {
  if (unwanted.test(reason) || /ALERT_HANDSHAKE_FAILURE/.test(reason)) {
    return {
      ...(unwanted.test(reason) ? certificate : {}),
      nextStep:
        'Set a client certificate that the server accepts in SVC_BROKER_TLS_CERT and SVC_BROKER_TLS_KEY.',
    };
  }
  // the certificate or the clock may be set right at any moment
  if (/NOT_YET_VALID/.test(reason))
    return { nextStep: 'Check the clock of this machine: by it, the certificate is not valid yet.' };
  if (untrusted.test(reason)) {
    return {
      ...certificate,
      nextStep:
        'Set the CA of its certificate in VAULT_CACERT (SVC_BROKER_TLS_CA for a broker), and check that the certificate is for this address and still valid.',
    };
  }
  return {};
}
