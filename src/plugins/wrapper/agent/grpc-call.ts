import { connect, type Socket } from 'node:net';
import {
  frame,
  type GrpcStatus,
  singleFrame,
  statusMessage,
  statusOfHttp,
  statusOfNumber,
  statusOfReset,
} from '../../../runtime/protocols/grpc.ts';
import {
  clientPreface,
  FrameReader,
  frameContent,
  frameFlag,
  frameType,
  Http2Error,
  type Http2Frame,
  longestFrame,
  writeFrame,
} from './http2-frames.ts';
import { decodeHeaders, encodeHeaders } from './http2-headers.ts';

export interface UnaryCall {
  /** Path of a Unix socket; a leading NUL denotes the abstract namespace. */
  readonly socketPath: string;
  /** Connects in place of `socketPath`; no socket means that nobody listens. */
  readonly connection?: (() => Socket | undefined) | undefined;
  /** For example `/svc.agent.v1.NodeAgent/Register`. */
  readonly method: string;
  /** At most 16,000 bytes. */
  readonly request: Uint8Array;
  /** Milliseconds for the whole call, including connecting. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes one gRPC call without a channel: connects, calls, closes. HTTP/2 is implemented here, because loading
 * node:http2 costs 15 ms at start and 3 MB.
 * @returns the response message
 * @throws GrpcError (UNAVAILABLE if nobody listens, DEADLINE_EXCEEDED after `timeoutMs`); the signal's reason
 */
export async function unaryCall(call: UnaryCall): Promise<Uint8Array> {
  call.signal?.throwIfAborted();
  return new Promise((resolve, reject) => new Call(call, resolve, reject).begin());
}

/** No dynamic header table and no server push. */
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

/** Reads the server's side of a connection with a single call. */
class UnaryResponse {
  readonly #reader = new FrameReader();
  readonly #headers = new Map<string, string>();
  readonly #data: Uint8Array[] = [];
  #size = 0;
  #block: Uint8Array[] = [];
  #blockSize = 0;
  #frames = 0;
  #greeted = false;
  /** The stream ends after the current headers, or has ended. */
  #ending = false;
  #ended = false;

  /**
   * @param reply sends an acknowledgement frame with this type and payload
   * @returns the response message once it is complete
   * @throws GrpcError
   */
  read(piece: Uint8Array, reply: (type: number, payload: Uint8Array) => void): Uint8Array | undefined {
    try {
      for (const frame of this.#reader.read(piece)) {
        this.#take(frame, reply);
        if (this.#ended) return this.#judge();
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error;
      throw new GrpcError(this.#greeted ? 'INTERNAL' : 'UNAVAILABLE', error.message, { cause: error });
    }
  }

  #take(frame: Http2Frame, reply: (type: number, payload: Uint8Array) => void): void {
    const { type, flags, payload, stream } = frame;
    if (++this.#frames > maxFrames)
      throw new GrpcError('RESOURCE_EXHAUSTED', 'the answer has too many frames');
    if (!this.#greeted && type !== frameType.settings)
      throw new Http2Error('the other side does not speak HTTP/2');
    this.#greeted = true;
    if (type === frameType.settings || type === frameType.ping) {
      if (!(flags & frameFlag.ack)) reply(type, type === frameType.ping ? payload : new Uint8Array(0));
    } else if (type === frameType.goaway) this.#goodbye(payload);
    else if (stream === ourStream) this.#takeOurs(frame);
  }

  #takeOurs(frame: Http2Frame): void {
    const { type, flags, payload } = frame;
    if (type === frameType.reset) throw resetError(numberAt(payload, 0));
    if (type === frameType.push) throw new Http2Error('a push that was not requested');
    if (type === frameType.data) this.#takeData(frameContent(frame));
    else if (type === frameType.headers) this.#takeBlock(frameContent(frame), flags);
    else if (type === frameType.continuation) this.#takeBlock(payload, flags & ~frameFlag.endStream);
    if (type === frameType.headers || type === frameType.data)
      this.#ending = (flags & frameFlag.endStream) !== 0;
    this.#ended = this.#ending && this.#block.length === 0;
  }

  #takeData(content: Uint8Array): void {
    this.#size += content.length;
    if (this.#size > answerLimit) throw new GrpcError('RESOURCE_EXHAUSTED', 'the answer is too long');
    this.#data.push(content);
  }

  #takeBlock(part: Uint8Array, flags: number): void {
    this.#block.push(part);
    this.#blockSize += part.length;
    if (this.#blockSize > blockLimit) throw new GrpcError('RESOURCE_EXHAUSTED', 'the headers are too long');
    if (!(flags & frameFlag.endHeaders)) return;
    for (const [name, value] of decodeHeaders(Buffer.concat(this.#block)))
      if (wanted.has(name)) this.#headers.set(name, value);
    this.#block = [];
    this.#blockSize = 0;
  }

  #goodbye(payload: Uint8Array): void {
    const [last, code] = [numberAt(payload, 0) & 0x7fff_ffff, numberAt(payload, 4)];
    if (code === 0 && last >= ourStream) return;
    throw new GrpcError('UNAVAILABLE', `the server sent GOAWAY (${code})`);
  }

  #judge(): Uint8Array {
    const http = Number(this.#headers.get(':status'));
    const number = this.#headers.get('grpc-status');
    if (number === undefined) throw withoutStatus(http);
    const status = statusOfNumber(number);
    if (status !== 'OK') throw new GrpcError(status, statusMessage(this.#headers.get('grpc-message') ?? ''));
    const message = singleFrame(Buffer.concat(this.#data));
    if (message === undefined) throw new GrpcError('INTERNAL', 'the answer is not one message');
    return message;
  }
}

class Call {
  readonly #call: UnaryCall;
  readonly #resolve: (message: Uint8Array) => void;
  readonly #reject: (error: unknown) => void;
  readonly #answer = new UnaryResponse();
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: UnaryCall, resolve: (message: Uint8Array) => void, reject: (error: unknown) => void) {
    this.#call = call;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const { signal, timeoutMs, socketPath, connection = () => connect(socketPath) } = this.#call;
    const bytes = asked(this.#call);
    const socket = connection();
    if (socket === undefined) return this.#fail('UNAVAILABLE', 'nobody listens');
    signal?.addEventListener('abort', this.#aborted, { once: true });
    const late = () => this.#fail('DEADLINE_EXCEEDED', `no answer within ${timeoutMs} ms`);
    this.#timer = setTimeout(late, timeoutMs);
    this.#socket = socket
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

  /** Only the first settlement counts. */
  #settle(answer: () => void): void {
    clearTimeout(this.#timer);
    this.#call.signal?.removeEventListener('abort', this.#aborted);
    this.#socket?.destroy();
    answer();
  }
}

/** Our responses are below 200 bytes. The stream's initial window of 65,535 bytes is never enlarged. */
const answerLimit = 32_768;
const blockLimit = 16_384;
/** An answer takes some ten; empty ones cost the other side nine bytes each. */
const maxFrames = 1_024;
const wanted: ReadonlySet<string> = new Set([':status', 'grpc-status', 'grpc-message']);

function withoutStatus(http: number): GrpcError {
  const status: GrpcStatus = http === 200 ? 'INTERNAL' : statusOfHttp(http);
  return new GrpcError(status, http === 200 ? 'the answer has no status' : `HTTP status ${http}`);
}

function resetError(code: number): GrpcError {
  return new GrpcError(statusOfReset(code), `the stream was reset (${code})`);
}

function numberAt(payload: Uint8Array, offset: number): number {
  if (payload.length < offset + 4) throw new Http2Error('a frame is truncated');
  return new DataView(payload.buffer, payload.byteOffset).getUint32(offset);
}

/** A call that was not answered with OK. The message is the server's, or describes the failure on the way. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly status: GrpcStatus;

  constructor(status: GrpcStatus, message: string, options?: ErrorOptions) {
    super(message === '' ? status : `${status}: ${message}`, options);
    this.status = status;
  }
}
