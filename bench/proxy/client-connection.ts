import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { ChunkedBody } from '../../src/runtime/net/http1-chunked-body.ts';

export interface Response {
  readonly status: number;
  /** Bytes of the body. */
  readonly bytes: number;
  /** The body's first byte. */
  readonly first: number | undefined;
  /** The body of an error, its beginning. */
  readonly text: string;
}

export interface Body {
  /** Sent over and over, until there were so many bytes. */
  readonly piece: Buffer;
  readonly size: number;
}

/** All connections read into it: what one has read is looked at before the next one reads. */
const shared = Buffer.allocUnsafe(256 * 1024);
const endOfHead = Buffer.from('\r\n\r\n');
const mostText = 1000;
const bounds = { maxBody: Number.MAX_SAFE_INTEGER, maxHead: 16 * 1024 };

/**
 * A kept connection on a bare socket, one request at a time. Bodies are counted and dropped: a load process has to be
 * lighter than what it measures.
 */
export class ClientConnection {
  readonly #socket: Socket;
  #pending: { resolve(response: Response): void; reject(error: Error): void } | undefined;
  #unsent = 0;
  /** The beginning of a head that came in pieces. */
  #partial: Buffer | undefined;
  /** Bytes of the body still to come, in a body of known length. */
  #left = 0;
  #chunked: ChunkedBody | undefined;
  #status = 0;
  #bytes = 0;
  #first: number | undefined;
  #text = '';

  /** @param ca PEM to trust, where the URL is HTTPS */
  static async open(url: URL, ca: string | undefined): Promise<ClientConnection> {
    const connection = new ClientConnection(url, ca);
    const ready = url.protocol === 'https:' ? 'secureConnect' : 'connect';
    await new Promise<void>((resolve, reject) => {
      connection.#socket.once(ready, resolve).once('error', reject).once('close', reject);
    });
    return connection;
  }

  private constructor(url: URL, ca: string | undefined) {
    const callback = (length: number) => {
      this.#take(shared.subarray(0, length));
      return true;
    };
    const options = { host: url.hostname, port: Number(url.port), onread: { buffer: shared, callback } };
    this.#socket = url.protocol === 'https:' ? connectSecurely({ ...options, ca }) : connect(options);
    this.#socket.setNoDelay(true);
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  get usable(): boolean {
    return this.#socket.writable;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** @param head ends with an empty line; whatever of a small body follows it in the same buffer is sent too */
  exchange(head: Buffer, body?: Body): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#bytes = 0;
      this.#first = undefined;
      this.#text = '';
      this.#unsent = body?.size ?? 0;
      this.#socket.write(head);
      if (body) this.#write(body.piece);
    });
  }

  #write(piece: Buffer): void {
    const part = this.#unsent < piece.length ? piece.subarray(0, this.#unsent) : piece;
    this.#socket.write(part, (error) => {
      this.#unsent -= part.length;
      if (!error && this.#unsent > 0 && this.#pending) this.#write(piece);
    });
  }

  #take(bytes: Buffer): void {
    try {
      if (this.#left > 0 || this.#chunked) this.#body(bytes);
      else this.#head(bytes);
    } catch (error) {
      this.#fail(error as Error);
      this.close();
    }
  }

  #head(bytes: Buffer): void {
    const all = this.#partial ? Buffer.concat([this.#partial, bytes]) : bytes;
    const end = all.indexOf(endOfHead);
    this.#partial = end < 0 ? Buffer.from(all) : undefined;
    if (end < 0) return;
    const text = all.toString('latin1', 0, end);
    const rest = all.subarray(end + endOfHead.length);
    this.#status = Number(text.slice(9, 12));
    if (this.#status === 100) {
      if (rest.length > 0) this.#head(rest);
      return;
    }
    this.#left = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
    this.#chunked = /\r\ntransfer-encoding: *chunked/i.test(text)
      ? new ChunkedBody((part) => this.#note(part as Buffer), bounds)
      : undefined;
    if (this.#left === 0 && !this.#chunked) this.#end();
    else if (rest.length > 0) this.#body(rest);
  }

  #body(bytes: Buffer): void {
    if (this.#chunked) {
      this.#chunked.push(bytes);
      if (this.#chunked.done) this.#end();
      return;
    }
    this.#note(bytes);
    this.#left -= bytes.length;
    if (this.#left < 0) throw new Error('the body is longer than announced');
    if (this.#left === 0) this.#end();
  }

  #note(bytes: Buffer): void {
    if (this.#bytes === 0) this.#first = bytes[0];
    this.#bytes += bytes.length;
    if (this.#status >= 300 && this.#text.length < mostText) this.#text += bytes.toString();
  }

  /** A server that answered before it had the whole body gets no other request here. */
  #end(): void {
    this.#chunked = undefined;
    if (this.#unsent > 0 && this.#status >= 300) this.close();
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve({ status: this.#status, bytes: this.#bytes, first: this.#first, text: this.#text });
  }

  #fail(error: Error): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(error);
  }
}
