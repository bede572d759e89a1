/** Frame types of RFC 9113 that a single call needs. */
export const frameType = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  continuation: 9,
} as const;

export const frameFlag = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export interface Http2Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Uint8Array;
}

/** The first bytes that a client sends. */
export const clientPreface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Maximum payload unless the peer permits longer frames. */
export const longestFrame = 16_384;
const headerLength = 9;

export function writeFrame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(headerLength + payload.length);
  frame.writeUIntBE(payload.length, 0, 3);
  frame.writeUInt8(type, 3);
  frame.writeUInt8(flags, 4);
  frame.writeUInt32BE(stream, 5);
  frame.set(payload, headerLength);
  return frame;
}

/** Reads frames from a byte stream split at any point. */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0);

  /** @throws Http2Error for a frame that is too long */
  *read(piece: Uint8Array): Generator<Http2Frame> {
    this.#pending = Buffer.concat([this.#pending, piece]);
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) yield frame;
  }

  #next(): Http2Frame | undefined {
    if (this.#pending.length < headerLength) return undefined;
    const length = this.#pending.readUIntBE(0, 3);
    if (length > longestFrame) throw new Http2Error('a frame is too long');
    const end = headerLength + length;
    if (this.#pending.length < end) return undefined;
    const [type, flags] = [this.#pending.readUInt8(3), this.#pending.readUInt8(4)];
    const stream = this.#pending.readUInt32BE(5) & 0x7fff_ffff;
    const payload = this.#pending.subarray(headerLength, end);
    this.#pending = this.#pending.subarray(end);
    return { type, flags, stream, payload };
  }
}

/** Payload of a DATA or HEADERS frame without padding and priority. @throws Http2Error */
export function frameContent({ type, flags, payload }: Http2Frame): Uint8Array {
  const padding = flags & frameFlag.padded ? (payload[0] ?? 0) : 0;
  const before = (flags & frameFlag.padded ? 1 : 0) + priorityLength(type, flags);
  if (before + padding > payload.length) throw new Http2Error('a frame is padded wrongly');
  return payload.subarray(before, payload.length - padding);
}

function priorityLength(type: number, flags: number): number {
  return type === frameType.headers && flags & frameFlag.priority ? 5 : 0;
}

/** Not HTTP/2, or a feature of it that a single call does not need. The text never quotes the bytes. */
export class Http2Error extends Error {
  override readonly name = 'Http2Error';
}
