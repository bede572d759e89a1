import { connect, type Socket } from 'node:net';
import { frame } from '../../core/grpc/frame.ts';
import type { GrpcStatus } from '../../core/grpc/status.ts';
import { clientPreface, frameFlag, frameType, longestFrame, writeFrame } from '../../core/http2/frames.ts';
import { encodeHeaders } from '../../core/http2/header-block.ts';
import { Answer } from './answer.ts';
import { GrpcError } from './grpc-error.ts';

export interface UnaryCall {
  /** Path of a Unix socket; a leading NUL means the abstract namespace. */
  readonly socketPath: string;
  /** Such as `/svc.agent.v1.NodeAgent/Register`. */
  readonly method: string;
  /** At most 16,000 bytes. */
  readonly request: Uint8Array;
  /** The whole call, connection included, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * One gRPC call without a channel: connects, asks, closes. HTTP/2 is spoken by hand, because loading node:http2 costs
 * a short start 15 ms and a process that stays 3 MB.
 * @returns the answer's message
 * @throws GrpcError (UNAVAILABLE where nobody listens, DEADLINE_EXCEEDED after `timeoutMs`); the signal's reason
 */
export async function unaryCall(call: UnaryCall): Promise<Uint8Array> {
  call.signal?.throwIfAborted();
  return new Promise((resolve, reject) => new Call(call, resolve, reject).begin());
}

/** No table of headers to keep, and nothing pushed. */
const settings = Buffer.from([0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
const ourStream = 1;

function asked({ method, request, timeoutMs }: UnaryCall): Buffer {
  const body = frame(request);
  if (body.length > longestFrame) throw new RangeError('a request of more than one frame');
  const headers = encodeHeaders([
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', method],
    [':authority', 'localhost'],
    ['te', 'trailers'],
    ['content-type', 'application/grpc'],
    ['grpc-timeout', `${Math.min(Math.ceil(timeoutMs), 99_999_999)}m`],
  ]);
  return Buffer.concat([
    clientPreface,
    writeFrame(frameType.settings, 0, 0, settings),
    writeFrame(frameType.headers, frameFlag.endHeaders, ourStream, headers),
    writeFrame(frameType.data, frameFlag.endStream, ourStream, body),
  ]);
}

class Call {
  readonly #call: UnaryCall;
  readonly #resolve: (message: Uint8Array) => void;
  readonly #reject: (error: unknown) => void;
  readonly #answer = new Answer();
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: UnaryCall, resolve: (message: Uint8Array) => void, reject: (error: unknown) => void) {
    this.#call = call;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const { signal, timeoutMs, socketPath } = this.#call;
    const bytes = asked(this.#call);
    signal?.addEventListener('abort', this.#aborted, { once: true });
    const late = () => this.#fail('DEADLINE_EXCEEDED', `no answer within ${timeoutMs} ms`);
    this.#timer = setTimeout(late, timeoutMs);
    this.#socket = connect(socketPath)
      .on('error', (error: NodeJS.ErrnoException) => this.#fail('UNAVAILABLE', error.code ?? '', error))
      .on('close', () => this.#fail('UNAVAILABLE', 'the connection was closed before the answer'))
      .on('data', (piece) => this.#read(piece));
    this.#socket.write(bytes);
  }

  #read(piece: Uint8Array): void {
    const acknowledge = (type: number, payload: Uint8Array) =>
      this.#socket?.write(writeFrame(type, frameFlag.ack, 0, payload));
    try {
      const message = this.#answer.read(piece, acknowledge);
      if (message !== undefined) this.#settle(() => this.#resolve(message));
    } catch (error) {
      this.#settle(() => this.#reject(error));
    }
  }

  readonly #aborted = (): void => this.#settle(() => this.#reject(this.#call.signal?.reason));

  #fail(status: GrpcStatus, message: string, cause?: Error): void {
    this.#settle(() => this.#reject(new GrpcError(status, message, cause && { cause })));
  }

  /** Only the first time counts: what follows changes a promise no more. */
  #settle(answer: () => void): void {
    clearTimeout(this.#timer);
    this.#call.signal?.removeEventListener('abort', this.#aborted);
    this.#socket?.destroy();
    answer();
  }
}
