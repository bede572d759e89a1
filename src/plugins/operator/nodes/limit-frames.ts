import { Duplex } from 'node:stream';

/**
 * What a frame counts for at least, and a piece that arrives, such as a TLS record: each costs the event loop of all
 * something, however short it is.
 */
const minBytes = 512;

/**
 * Heads of reports have some 2 KiB with their token, and come at most 8 times a second, each with three frames of a few
 * bytes. Bytes of reports pay for as many.
 */
const burst = 128 * 1024;
const perSecond = 32 * 1024;

const prefaceLength = 24;
const headLength = 9;
const types = { data: 0 };
const flags = { padded: 8 };

/** Counts what a connection sends beside its reports, in bytes: heads, padding, and frames that say nothing. */
export class FrameMeter {
  readonly #now: () => number;
  #left = burst;
  #countedAt: number;
  /** Of the current frame, and yet to come. */
  #payload = prefaceLength;
  readonly #head = Buffer.alloc(headLength);
  #headFilled = 0;

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#countedAt = now();
  }

  /** @returns false if it sends more than any agent does */
  count(piece: Buffer): boolean {
    const now = this.#now();
    this.#left = Math.min(burst, this.#left + ((now - this.#countedAt) * perSecond) / 1_000);
    this.#countedAt = now;
    const before = this.#left;
    for (let at = 0; at < piece.length && this.#left >= 0; ) at += this.#take(piece, at);
    const unpaid = minBytes - piece.length - (before - this.#left);
    if (unpaid > 0) this.#left -= unpaid;
    return this.#left >= 0;
  }

  /** @returns how many bytes it has taken: of a payload, or of a head */
  #take(piece: Buffer, at: number): number {
    const ofPayload = Math.min(this.#payload, piece.length - at);
    this.#payload -= ofPayload;
    if (ofPayload > 0) return ofPayload;
    const taken = piece.copy(this.#head, this.#headFilled, at);
    this.#headFilled += taken;
    if (this.#headFilled === headLength) this.#begin();
    return taken;
  }

  #begin(): void {
    const head = this.#head;
    this.#headFilled = 0;
    this.#payload = head.readUIntBE(0, 3);
    const isReport = head[3] === types.data && ((head[4] ?? 0) & flags.padded) === 0;
    const cost = isReport ? minBytes - this.#payload : Math.max(minBytes, this.#payload);
    this.#left = Math.min(burst, this.#left - cost);
  }
}

/**
 * A connection whose frames are counted before Node’s HTTP/2 sees them, which tells nobody about most of them, and takes
 * as many in one turn of the event loop as a socket has. One piece is handed on in a turn.
 * @param onExcess called instead with what is too much; to end the connection
 */
export function limitFrames(socket: Duplex, onExcess: () => void): Duplex {
  const meter = new FrameMeter();
  const limited = new Duplex({
    read: () => void setImmediate(() => socket.resume()),
    // an error of the socket closes it
    write: (bytes, _encoding, done) => void socket.write(bytes, () => done()),
    final: (done) => void socket.end(() => done()),
    destroy(_error, done) {
      socket.destroy();
      done(null);
    },
  });
  socket.pause();
  socket
    .on('data', (piece: Buffer) => {
      socket.pause();
      if (meter.count(piece)) limited.push(piece);
      else onExcess();
    })
    .once('end', () => limited.push(null))
    .once('close', () => limited.destroy());
  return limited;
}
