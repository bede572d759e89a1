import type http2 from 'node:http2';
import { createRequire } from 'node:module';
import { connect, type Socket } from 'node:net';
import { frame, singleFrame } from '../../core/grpc/frame.ts';
import {
  type GrpcStatus,
  statusMessage,
  statusOfHttp,
  statusOfNumber,
  statusOfReset,
} from '../../core/grpc/status.ts';
import { GrpcError } from './grpc-error.ts';

export interface UnaryCall {
  /** Path of a Unix socket; a leading NUL means the abstract namespace. */
  readonly socketPath: string;
  /** Such as `/svc.agent.v1.NodeAgent/Register`. */
  readonly method: string;
  readonly request: Uint8Array;
  /** The whole call, connection included, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Answers of ours are below 200 bytes; more than this is no answer to us. */
const ANSWER_LIMIT = 65_536;

/** By require: import() would start Node's loader of ES modules in a CommonJS bundle, for 3 ms and memory. */
const loadHttp2 = (): typeof http2 => createRequire(import.meta.url)('node:http2');

/**
 * One gRPC call without a channel: connects, asks, closes. node:http2 is loaded once somebody is there to be asked.
 * @returns the answer's message
 * @throws GrpcError (UNAVAILABLE where nobody listens, DEADLINE_EXCEEDED after `timeoutMs`); the signal's reason
 */
export async function unaryCall(call: UnaryCall): Promise<Uint8Array> {
  call.signal?.throwIfAborted();
  return new Promise((resolve, reject) => new Call(call, resolve, reject).begin());
}

class Call {
  readonly #call: UnaryCall;
  readonly #resolve: (message: Uint8Array) => void;
  readonly #reject: (error: unknown) => void;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #headers: http2.IncomingHttpHeaders = {};
  #cause: Error | undefined;
  #socket: Socket | undefined;
  #session: http2.ClientHttp2Session | undefined;
  #timer: NodeJS.Timeout | undefined;
  #settled = false;

  constructor(call: UnaryCall, resolve: (message: Uint8Array) => void, reject: (error: unknown) => void) {
    this.#call = call;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const { signal, timeoutMs, socketPath } = this.#call;
    signal?.addEventListener('abort', this.#aborted, { once: true });
    const late = () => this.#fail('DEADLINE_EXCEEDED', `no answer within ${timeoutMs} ms`);
    this.#timer = setTimeout(late, timeoutMs);
    this.#socket = connect(socketPath)
      .on('error', (error) => this.#lost(error))
      .once('connect', () => this.#attempt(() => this.#ask()));
  }

  #attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#lost(error as Error);
    }
  }

  #ask(): void {
    const createConnection = () => this.#socket as Socket;
    this.#session = loadHttp2().connect('http://localhost', { createConnection });
    this.#session.on('error', (error) => this.#note(error));
    this.#send(this.#session);
  }

  #send(session: http2.ClientHttp2Session): void {
    const stream = session.request({
      ':method': 'POST',
      ':path': this.#call.method,
      'content-type': 'application/grpc',
      'grpc-timeout': `${Math.min(Math.ceil(this.#call.timeoutMs), 99_999_999)}m`,
      te: 'trailers',
    });
    const keep = (headers: http2.IncomingHttpHeaders) => Object.assign(this.#headers, headers);
    stream
      .on('response', keep)
      .on('trailers', keep)
      .on('data', (chunk: Buffer) => this.#receive(chunk))
      .on('error', (error) => this.#note(error))
      .on('close', () => this.#judge(session.destroyed, stream.rstCode ?? 0));
    stream.end(frame(this.#call.request));
  }

  #receive(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > ANSWER_LIMIT) this.#fail('RESOURCE_EXHAUSTED', 'the answer is too long');
    else this.#chunks.push(chunk);
  }

  #note(cause: Error): void {
    this.#cause ??= cause;
  }

  /** Looks at what there is once the stream is closed. */
  #judge(lost: boolean, resetCode: number): void {
    const http = Number(this.#headers[':status'] ?? 200);
    const status = this.#headers['grpc-status'];
    if (typeof status === 'string') this.#answer(statusOfNumber(status));
    else if (lost) this.#lost(this.#cause);
    else if (resetCode) this.#fail(statusOfReset(resetCode), `the stream was reset (${resetCode})`);
    else if (http !== 200) this.#fail(statusOfHttp(http), `HTTP status ${http}`);
    else this.#fail('INTERNAL', 'the answer has no status');
  }

  #answer(status: GrpcStatus): void {
    const text = this.#headers['grpc-message'];
    if (status !== 'OK') return this.#fail(status, typeof text === 'string' ? statusMessage(text) : '');
    const message = singleFrame(Buffer.concat(this.#chunks));
    if (message === undefined) return this.#fail('INTERNAL', 'the answer is not one message');
    this.#settle(() => this.#resolve(message));
  }

  #lost(cause?: Error): void {
    const code = (cause as NodeJS.ErrnoException | undefined)?.code;
    this.#fail('UNAVAILABLE', code ?? 'the connection was closed before the answer', cause);
  }

  readonly #aborted = (): void => this.#settle(() => this.#reject(this.#call.signal?.reason));

  #fail(status: GrpcStatus, message: string, cause: Error | undefined = this.#cause): void {
    this.#settle(() => this.#reject(new GrpcError(status, message, cause && { cause })));
  }

  #settle(answer: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#call.signal?.removeEventListener('abort', this.#aborted);
    this.#session?.destroy();
    this.#socket?.destroy();
    answer();
  }
}
