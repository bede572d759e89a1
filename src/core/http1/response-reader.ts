import type { ByteSink } from './byte-sink.ts';
import { type BodyBounds, ChunkedBody, tooLarge } from './chunked-body.ts';
import { HttpError } from './http-error.ts';
import { parseResponseHead, type ResponseHead } from './response-head.ts';

const headEnd = Buffer.from('\r\n\r\n');

/**
 * Reads one answer, wherever its bytes are split; interim (1xx) answers are passed over. Head and then body
 * are gathered in the sink and nowhere else; at the end it holds the body alone.
 */
export class ResponseReader {
  readonly #sink: ByteSink;
  readonly #bounds: BodyBounds;
  #head: ResponseHead | undefined;
  #headBytes = 0;
  #chunks: ChunkedBody | undefined;
  #done = false;

  constructor(sink: ByteSink, bounds: BodyBounds) {
    this.#sink = sink;
    this.#bounds = bounds;
  }

  /** Undefined until the final answer's head is there. */
  get head(): ResponseHead | undefined {
    return this.#head;
  }

  get done(): boolean {
    return this.#done;
  }

  /**
   * @returns how many of the bytes belonged to the answer: fewer than all only when it is done
   * @throws HttpError
   */
  push(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && !this.#done) {
      at +=
        this.#head === undefined ? this.#pushHead(bytes.subarray(at)) : this.#pushBody(bytes.subarray(at));
    }
    return at;
  }

  /**
   * To be called when the connection has ended.
   * @throws HttpError where the answer is not complete
   */
  end(): void {
    if (this.#head?.framing.kind === 'until-close') this.#done = true;
    if (!this.#done) throw new HttpError('the connection ended before the answer did');
  }

  #pushHead(bytes: Uint8Array): number {
    const before = this.#sink.bytes.length;
    this.#sink.append(bytes);
    const gathered = view(this.#sink.bytes);
    const found = gathered.indexOf(headEnd, Math.max(0, before - 3));
    const length = found < 0 ? gathered.length : found + headEnd.length;
    if (this.#headBytes + length > this.#bounds.maxHead) {
      throw new HttpError(`the head of the answer is larger than ${this.#bounds.maxHead} bytes`);
    }
    if (found < 0) return bytes.length;
    const head = parseResponseHead(gathered.toString('latin1', 0, found));
    this.#headBytes += length;
    this.#sink.clear();
    if (head.status >= 200) this.#begin(head);
    else if (head.status === 101) throw new HttpError('the answer changes the protocol');
    return length - before;
  }

  #begin(head: ResponseHead): void {
    const { framing } = head;
    this.#head = head;
    if (framing.kind === 'length') {
      if (framing.length > this.#bounds.maxBody) throw tooLarge(this.#bounds);
      this.#sink.reserve(framing.length);
    }
    if (framing.kind === 'chunked') this.#chunks = new ChunkedBody(this.#sink, this.#bounds);
    this.#done = framing.kind === 'none' || (framing.kind === 'length' && framing.length === 0);
  }

  #pushBody(bytes: Uint8Array): number {
    if (this.#chunks === undefined) return this.#pushPlain(bytes);
    const taken = this.#chunks.push(bytes);
    this.#done = this.#chunks.done;
    return taken;
  }

  #pushPlain(bytes: Uint8Array): number {
    const framing = this.#head?.framing;
    const length = framing?.kind === 'length' ? framing.length : Number.POSITIVE_INFINITY;
    const part = bytes.subarray(0, length - this.#sink.bytes.length);
    if (this.#sink.bytes.length + part.length > this.#bounds.maxBody) throw tooLarge(this.#bounds);
    this.#sink.append(part);
    this.#done = this.#sink.bytes.length === length;
    return part.length;
  }
}

const view = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
