import { singleFrame } from '../../core/grpc/frame.ts';
import {
  type GrpcStatus,
  statusMessage,
  statusOfHttp,
  statusOfNumber,
  statusOfReset,
} from '../../core/grpc/status.ts';
import { FrameReader, frameContent, frameFlag, frameType, type Http2Frame } from '../../core/http2/frames.ts';
import { decodeHeaders } from '../../core/http2/header-block.ts';
import { Http2Error } from '../../core/http2/http2-error.ts';
import { GrpcError } from './grpc-error.ts';

/** Answers of ours are below 200 bytes. The window of 65,535 that a stream begins with is never enlarged. */
const answerLimit = 32_768;
const blockLimit = 16_384;
const ourStream = 1;

/** Reads the server's side of a connection on which one call was made. */
export class Answer {
  readonly #reader = new FrameReader();
  readonly #headers = new Map<string, string>();
  readonly #data: Uint8Array[] = [];
  #size = 0;
  #block: Uint8Array[] = [];
  #greeted = false;
  /** The stream ends with the headers that are coming in, or has ended. */
  #ending = false;
  #ended = false;

  /**
   * @param reply sends a frame back: of this type, with this payload, as an acknowledgement
   * @returns the answer's message once it is there
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
    if (!this.#greeted && type !== frameType.settings)
      throw new Http2Error('the other side speaks no HTTP/2');
    this.#greeted = true;
    if (type === frameType.settings || type === frameType.ping) {
      if (!(flags & frameFlag.ack)) reply(type, type === frameType.ping ? payload : new Uint8Array(0));
    } else if (type === frameType.goaway) this.#goodbye(payload);
    else if (stream === ourStream) this.#takeOurs(frame);
  }

  #takeOurs(frame: Http2Frame): void {
    const { type, flags, payload } = frame;
    if (type === frameType.reset) throw resetError(numberAt(payload, 0));
    if (type === frameType.push) throw new Http2Error('a push that was not asked for');
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
    const block = Buffer.concat(this.#block);
    if (block.length > blockLimit) throw new GrpcError('RESOURCE_EXHAUSTED', 'the headers are too long');
    if (!(flags & frameFlag.endHeaders)) return;
    for (const [name, value] of decodeHeaders(block)) this.#headers.set(name, value);
    this.#block = [];
  }

  #goodbye(payload: Uint8Array): void {
    const [last, code] = [numberAt(payload, 0) & 0x7fff_ffff, numberAt(payload, 4)];
    if (code === 0 && last >= ourStream) return;
    throw new GrpcError('UNAVAILABLE', `the server said goodbye (${code})`);
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

function withoutStatus(http: number): GrpcError {
  const status: GrpcStatus = http === 200 ? 'INTERNAL' : statusOfHttp(http);
  return new GrpcError(status, http === 200 ? 'the answer has no status' : `HTTP status ${http}`);
}

function resetError(code: number): GrpcError {
  return new GrpcError(statusOfReset(code), `the stream was reset (${code})`);
}

function numberAt(payload: Uint8Array, offset: number): number {
  if (payload.length < offset + 4) throw new Http2Error('a frame is cut');
  return new DataView(payload.buffer, payload.byteOffset).getUint32(offset);
}
