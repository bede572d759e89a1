/** A long body that is produced block by block while it is sent, and never held in memory as a whole. */
export interface BlockBody {
  /** Bytes of all blocks together. */
  readonly length: number;
  /** Each block has its own memory, which can be freed once the block was sent. */
  readonly blocks: Iterable<Buffer>;
}

const blockBytes = 64 * 1024;

/** Copies the pieces into blocks of 64 KiB. A piece may be overwritten when the next one is requested. */
export function* inBlocks(pieces: Iterable<Uint8Array>, size = blockBytes): Generator<Buffer> {
  let [block, filled] = [Buffer.allocUnsafeSlow(size), 0];
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const taken = Math.min(piece.length - at, size - filled);
      block.set(piece.subarray(at, at + taken), filled);
      [at, filled] = [at + taken, filled + taken];
      if (filled < size) continue;
      yield block;
      [block, filled] = [Buffer.allocUnsafeSlow(size), 0];
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}

/**
 * A text that arrives in pieces, as UTF-8 in a buffer of its own, without the garbage of joining strings.
 * @param pieces called twice; yields all pieces each time
 */
export function bytesOfPieces(pieces: () => Iterable<string>): Buffer {
  let length = 0;
  for (const piece of pieces()) length += Buffer.byteLength(piece);
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const piece of pieces()) at += bytes.write(piece, at);
  return bytes;
}

/** Characters of a text that are encoded at a time. */
const pieceLength = 16 * 1024;

/** A long text as UTF-8. */
export const textInBlocks = (text: string): BlockBody => ({
  length: Buffer.byteLength(text),
  blocks: inBlocks(encoded(text)),
});

function* encoded(text: string): Generator<Buffer> {
  for (let start = 0; start < text.length; ) {
    const end = start + pieceLength - (isHighSurrogate(text.charCodeAt(start + pieceLength - 1)) ? 1 : 0);
    yield Buffer.from(text.slice(start, end));
    start = end;
  }
}

/** Both halves of a surrogate pair must be in the same piece. */
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
