import type { Readable } from 'node:stream';

/** Small bodies may come in any pieces. */
const maxSmallPieces = 1_000;
/** Of larger bodies, the average piece has at least so many bytes: a network's packets have a thousand. */
const minAverage = 64;

/**
 * Ends a body from outside that arrives in needlessly many pieces, such as chunks of one byte. Node's parser takes about
 * a microsecond for each of them, however they are read: a megabyte would hold up everything else for a second. Counted
 * where the parser hands them over, because a reader gets those of one packet as one.
 * @param stream that nothing was read of yet; it fails with an Error
 */
export function limitPieces<T extends Readable>(stream: T): T {
  const push = stream.push.bind(stream);
  let pieces = 0;
  let bytes = 0;
  stream.push = (piece: Buffer | null, encoding?: BufferEncoding) => {
    if (piece === null) return push(piece);
    pieces += 1;
    bytes += piece.length;
    if (pieces <= maxSmallPieces + bytes / minAverage) return push(piece, encoding);
    if (!stream.destroyed) stream.destroy(new Error('its body arrives in too many small pieces'));
    return true;
  };
  return stream;
}
