import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { release } from '../../runtime/memory.ts';
import { resetSocket } from '../../runtime/net/accepted-sockets.ts';
import { lookupOf, serverNameOf } from '../../runtime/net/host-names.ts';
import { type ResponseHead, ResponseParser } from '../../runtime/net/http1.ts';
import { tlsClientLimits } from '../../runtime/net/tls-limits.ts';

/** Address of a server, and how to reach it. */
export interface HttpTarget {
  /** An IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Undefined: no TLS. `ca`: PEM certificates trusted in place of Node's own. */
  readonly tls: { readonly ca?: string | undefined } | undefined;
}

/** Callbacks of one request. None follows `ended` or `failed`. */
export interface ResponseHandler {
  /** `100 Continue` was received. */
  continued(): void;
  head(head: ResponseHead): void;
  /** A piece of the body, in memory that is reused when this returns. */
  data(bytes: Buffer): void;
  ended(): void;
  /** @param unseen a reused connection turned out to be closed, so the server has not seen the request */
  failed(error: Error, unseen: boolean): void;
}

export type WriteCallback = (error?: Error | null) => void;

export interface ConnectionEvents {
  /** The connection is established, including the TLS handshake. */
  opened(): void;
  /** The connection accepts another request. */
  free(): void;
  /** The connection accepts no more requests. */
  failed(error: Error): void;
  /** The connection is fully closed. */
  closed(): void;
}

/**
 * Read buffer shared by all connections without TLS. libuv allocates, reads and calls back without interruption, so the
 * bytes are only valid in the callback.
 */
const slab = Buffer.allocUnsafeSlow(256 * 1024);

/** Chunks of one body in one read after which all other work gets its turn. */
const maxChunksInTurn = 2_048;

/** The store takes 8 KiB of head, and adds its own. */
const bounds = { maxHead: 20 * 1024, maxBody: Number.MAX_SAFE_INTEGER };

/** A connection for one request at a time. */
export class Http1Connection {
  readonly #events: ConnectionEvents;
  /** The TLS connection, once it exists. */
  #socket: Socket;
  /** The TCP connection, which must be reset in place of a TLS connection above it. */
  readonly #carrier: Socket;
  /** Only with TLS. */
  readonly #pieces = new GatheredPieces((bytes) => this.#take(bytes));
  #handler: ResponseHandler | undefined;
  #parser: ResponseParser | undefined;
  #open = false;
  #gone = false;
  #begun = 0;
  #paused = false;
  /** Whether the request was written completely. */
  #sent = true;
  #read = 0;
  /** Value of `#read` when the current request began. */
  #readBefore = 0;
  #failure: Error | undefined;

  constructor(target: HttpTarget, session: TlsSessions, events: ConnectionEvents) {
    this.#events = events;
    const { host, port, tls } = target;
    const onread = { buffer: slab, callback: (count: number) => this.#take(slab.subarray(0, count)) };
    this.#carrier = connectTcp({
      host,
      port,
      lookup: lookupOf(host),
      ...(tls === undefined ? { onread } : {}),
    });
    this.#carrier.setNoDelay(true);
    this.#socket = this.#carrier;
    this.#listen(this.#carrier);
    this.#carrier.once('connect', () => (tls === undefined ? this.#ready() : this.#secure(target, session)));
  }

  /** Bytes in both directions, for watchers that detect stalls. */
  get moved(): number {
    return this.#read + this.#socket.bytesWritten;
  }

  get usable(): boolean {
    return this.#failure === undefined && !this.#socket.destroyed;
  }

  /** @param whole the request ends with `first` */
  begin(
    handler: ResponseHandler,
    bodyless: boolean,
    first: readonly Uint8Array[],
    whole: boolean,
    done?: WriteCallback,
  ): void {
    this.#handler = handler;
    this.#begun += 1;
    this.#readBefore = this.#read;
    this.#parser = new ResponseParser(
      {
        head: (head) => handler.head(head),
        interim: (status) => {
          if (status === 100) handler.continued();
        },
        data: (bytes) => handler.data(bytes as Buffer),
      },
      bounds,
      { bodyless, codings: true },
    );
    this.#socket.ref();
    this.write(first, whole, done);
  }

  /** @param done called once the operating system has taken all bytes, or with the error that prevented it */
  write(buffers: readonly Uint8Array[], last: boolean, done?: WriteCallback): void {
    this.#sent = false;
    const written = (error?: Error | null) => {
      if (last && !error) this.#sent = true;
      done?.(error);
    };
    const final = buffers.length - 1;
    if (final > 0) this.#socket.cork();
    for (const [index, buffer] of buffers.entries()) {
      if (index === final) this.#socket.write(buffer, written);
      else this.#socket.write(buffer);
    }
    if (final > 0) this.#socket.uncork();
  }

  /** Stops reading until `resume`. Bytes already read are still delivered. */
  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  /** Lets the process exit despite this idle connection. */
  rest(): void {
    this.#socket.unref();
  }

  /** Closes the connection by RST, so that a partial request cannot be mistaken for a complete one. */
  reset(reason: Error): void {
    this.#fail(reason);
  }

  /** Closes the connection normally, between two requests. */
  close(): void {
    this.#failure ??= over();
    this.#socket.end();
    this.#socket.destroySoon();
    this.#socket.unref();
  }

  #listen(socket: Socket): void {
    socket.on('error', (error) => {
      this.#pieces.flush();
      this.#fail(error);
    });
    socket.once('end', () => {
      this.#pieces.flush();
      this.#ended();
    });
    socket.once('close', () => {
      this.#pieces.flush();
      this.#closed();
    });
  }

  /** A TLS socket over another socket has no `onread`, and one that connects by itself cannot be reset. */
  #secure({ host, tls }: HttpTarget, session: TlsSessions): void {
    const socket = connectTls({
      ...tlsClientLimits,
      socket: this.#carrier,
      host,
      ...(tls?.ca !== undefined && { ca: tls.ca }),
      ...(session.ticket !== undefined && { session: session.ticket }),
      servername: serverNameOf(host),
      ALPNProtocols: ['http/1.1'],
      // explicit, because otherwise NODE_TLS_REJECT_UNAUTHORIZED=0 would disable it
      rejectUnauthorized: true,
    });
    this.#socket = socket;
    this.#listen(socket);
    socket.on('session', (ticket) => {
      session.ticket = ticket;
    });
    socket.once('secureConnect', () => this.#ready());
    socket.on('data', (bytes: Buffer) => {
      this.#pieces.add(bytes);
      // unsolicited data must not wait for the next request
      if (this.#parser === undefined) this.#pieces.flush();
    });
  }

  #ready(): void {
    this.#open = true;
    this.#events.opened();
  }

  #take(bytes: Buffer): boolean {
    if (this.#failure !== undefined) return false;
    this.#read += bytes.length;
    const parser = this.#parser;
    if (parser === undefined) {
      this.#fail(new Error('the server sent data without a request'));
      return false;
    }
    try {
      const chunksBefore = parser.chunks;
      const surplus = parser.push(bytes) < bytes.length;
      if (parser.chunks - chunksBefore > maxChunksInTurn) this.#letOthersGo();
      if (parser.done) this.#finish(parser, surplus);
    } catch (error) {
      this.#fail(error as Error);
    }
    return true;
  }

  /** libuv reads a socket many times before another gets its turn. */
  #letOthersGo(): void {
    if (this.#paused) return;
    this.#socket.pause();
    setImmediate(() => this.#paused || this.#socket.resume());
  }

  /** Handles a complete response; the connection is reused if the request was complete, too. */
  #finish(parser: ResponseParser, surplus: boolean): void {
    const handler = this.#handler;
    this.#handler = undefined;
    this.#parser = undefined;
    this.resume();
    const keep = this.usable && this.#sent && !surplus && parser.head?.keepAlive === true;
    if (keep) this.#events.free();
    else if (this.#sent) this.close();
    else this.#fail(over());
    handler?.ended();
  }

  #ended(): void {
    const parser = this.#parser;
    if (parser === undefined) return this.#fail(new Error('the server closed the connection'));
    try {
      parser.end();
      this.#finish(parser, true);
    } catch {
      this.#fail(closedError('the server closed the connection'));
    }
  }

  #closed(): void {
    this.#fail(closedError('the server closed the connection'));
    if (!this.#gone) this.#events.closed();
    this.#gone = true;
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    // closes the TLS connection above it, too
    if (this.#open) resetSocket(this.#socket, this.#carrier);
    else this.#carrier.destroy();
    const handler = this.#handler;
    this.#handler = undefined;
    this.#parser = undefined;
    this.#events.failed(error);
    const unseen = this.#begun > 1 && this.#read === this.#readBefore && isClosed(error);
    handler?.failed(error, unseen);
  }
}

const gatheredBytes = 64 * 1024;
const maxFreeBlocks = 16;
const freeBlocks: Buffer[] = [];

/**
 * TLS delivers records of at most 16 KiB, and a small piece costs as much as a large one, so the pieces of one turn of
 * the event loop are joined.
 */
class GatheredPieces {
  readonly #handOver: (bytes: Buffer) => void;
  #block: Buffer | undefined;
  #filled = 0;

  constructor(handOver: (bytes: Buffer) => void) {
    this.#handOver = handOver;
  }

  /** Releases the buffer of the piece. */
  add(piece: Buffer): void {
    for (let from = 0; from < piece.length; ) {
      const block = this.#current();
      const copied = piece.copy(block, this.#filled, from);
      from += copied;
      this.#filled += copied;
      if (this.#filled === block.length) this.flush();
    }
    release(piece);
  }

  flush(): void {
    const block = this.#block;
    if (block === undefined) return;
    const bytes = block.subarray(0, this.#filled);
    this.#block = undefined;
    this.#filled = 0;
    this.#handOver(bytes);
    if (freeBlocks.length < maxFreeBlocks) freeBlocks.push(block);
  }

  #current(): Buffer {
    if (this.#block !== undefined) return this.#block;
    setImmediate(() => this.flush());
    this.#block = freeBlocks.pop() ?? Buffer.allocUnsafeSlow(gatheredBytes);
    return this.#block;
  }
}

/** The last session ticket of a server, which shortens the next handshake. */
export interface TlsSessions {
  ticket: Buffer | undefined;
}

const over = (): Error => new Error('the connection is over');

/** Whether the server has closed the connection, as it may do at any time with a kept one. */
const isClosed = (error: NodeJS.ErrnoException): boolean =>
  error.code === 'ECONNRESET' || error.code === 'EPIPE';

/** Error for an unexpected end, with the operating system's code. */
export const closedError = (message: string): Error =>
  Object.assign(new Error(message), { code: 'ECONNRESET' });
