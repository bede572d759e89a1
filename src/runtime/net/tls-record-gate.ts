import https from 'node:https';
import { connect, type Socket, type TcpSocketConnectOpts } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';

/** Of a whole connection: a handshake, a few session tickets, and the end. */
const maxEmptyRecords = 64;
const headerBytes = 5;

/**
 * An agent for servers that anybody may name: it ends a connection that brings more than 64 TLS records without data.
 * In TLS 1.3 a peer may announce other keys as often as it likes (KeyUpdate), and OpenSSL reads as many in one turn as
 * have come.
 */
export class GatedHttpsAgent extends https.Agent {
  override createConnection(options: https.RequestOptions): TLSSocket {
    const carrier = connect(options as TcpSocketConnectOpts);
    const gate = new TlsRecordGate(carrier);
    const socket = connectTls({ ...options, socket: gate } as ConnectionOptions);
    gate.judgeBy(socket);
    return socket;
  }
}

/**
 * Stands between a TCP connection and the TLS socket above it, and hands on the records that come one by one, the next
 * when the one before has been decrypted. What goes out is passed through.
 */
class TlsRecordGate extends Duplex {
  readonly #carrier: Socket;
  #socket: TLSSocket | undefined;
  /** What has come and was not handed on: the carrier is paused meanwhile. */
  #rest: Buffer = Buffer.alloc(0);
  readonly #header = Buffer.alloc(headerBytes);
  #headerHas = 0;
  /** Bytes of the current record's body that are still to be handed on. */
  #bodyLeft = 0;
  #isAwaited = false;
  /** Whether the last bytes handed on were the end of a record. */
  #endedRecord = false;
  #decryptedBefore = 0;
  #emptyRecords = 0;

  constructor(carrier: Socket) {
    // nothing is read ahead: a record must have been decrypted before the next one is judged
    super({ readableHighWaterMark: 0, allowHalfOpen: false });
    this.#carrier = carrier;
    carrier.on('data', (bytes: Buffer) => {
      carrier.pause();
      this.#rest = bytes;
      this.#handOn();
    });
    carrier.on('end', () => this.push(null));
    carrier.on('error', (error) => this.destroy(error));
    carrier.on('close', () => this.destroy());
  }

  /** @param socket the one above, whose `bytesRead` counts decrypted bytes */
  judgeBy(socket: TLSSocket): void {
    this.#socket = socket;
  }

  override _read(): void {
    this.#isAwaited = true;
    this.#handOn();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#carrier.write(bytes, done);
  }

  override _final(done: () => void): void {
    this.#carrier.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#carrier.destroy();
    done(error);
  }

  #handOn(): void {
    if (!this.#isAwaited || this.destroyed) return;
    if (this.#rest.length === 0) {
      this.#carrier.resume();
      return;
    }
    this.#judge();
    if (this.#emptyRecords > maxEmptyRecords) {
      this.destroy(new Error(`the server sends more than ${maxEmptyRecords} TLS records without data`));
      return;
    }
    this.#isAwaited = false;
    this.push(this.#takeRecord());
  }

  #judge(): void {
    const decrypted = this.#socket?.bytesRead ?? 0;
    if (this.#endedRecord && decrypted === this.#decryptedBefore) this.#emptyRecords += 1;
    this.#endedRecord = false;
    this.#decryptedBefore = decrypted;
  }

  /** The rest of the current record, or of what has come of it. */
  #takeRecord(): Buffer {
    const all = this.#rest;
    let end = 0;
    if (this.#bodyLeft === 0) {
      end = Math.min(headerBytes - this.#headerHas, all.length);
      all.copy(this.#header, this.#headerHas, 0, end);
      this.#headerHas += end;
      if (this.#headerHas === headerBytes) this.#bodyLeft = this.#header.readUInt16BE(3);
    }
    const ofBody = Math.min(this.#bodyLeft, all.length - end);
    this.#bodyLeft -= ofBody;
    end += ofBody;
    if (this.#headerHas === headerBytes && this.#bodyLeft === 0) {
      this.#headerHas = 0;
      this.#endedRecord = true;
    }
    this.#rest = all.subarray(end);
    return all.subarray(0, end);
  }
}
