import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';

/** Bytes. Clients send pieces larger than the first bound, and never wait for less than the second to be read. */
const smallPiece = 1024;
const joinedPieces = 16 * 1024;
/** Small pieces of one body after which all other work gets its turn. */
const maxInTurn = 2_048;

/**
 * Merges small pieces of a body while nobody reads it. Each piece has an overhead of some hundred bytes that stream
 * limits do not count: a body in one-byte chunks would take 2 MiB for each 64 KiB read from the connection. Call it
 * before the first piece arrives.
 */
export function joinSmallPieces(request: IncomingMessage): void {
  const push = request.push.bind(request);
  let joined: Buffer | undefined;
  let filled = 0;
  let due = false;
  let sinceTurn = 0;
  const flush = () => {
    due = false;
    if (joined === undefined || filled === 0) return true;
    const piece = Buffer.from(joined.subarray(0, filled));
    joined = undefined;
    filled = 0;
    return push(piece);
  };
  const join = (piece: Buffer) => {
    if (joined === undefined || filled + piece.length > joined.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(smallPiece, 2 * (filled + piece.length)));
      joined?.copy(larger, 0, 0, filled);
      joined = larger;
    }
    joined.set(piece, filled);
    filled += piece.length;
    if (++sinceTurn === maxInTurn) letOthersGo(request, () => (sinceTurn = 0));
    if (filled + smallPiece > joinedPieces) return flush();
    // joins all pieces of one socket read: each parser callback gets its own turn of microtasks and ticks
    if (request.readableFlowing && !due) {
      due = true;
      setImmediate(flush);
    }
    return true;
  };
  request.push = (piece: Buffer | null) => {
    if (piece !== null && piece.length < smallPiece) return join(piece);
    flush();
    return push(piece);
  };
  request.on('resume', flush);
}

/** libuv reads a TLS connection up to 32 times before another gets its turn, which is a second of tiny pieces. */
function letOthersGo(request: IncomingMessage, gone: () => void): void {
  const { socket } = request;
  if (!(socket instanceof TLSSocket)) return;
  socket.pause();
  setImmediate(() => {
    gone();
    // else whoever reads the body has the connection read on
    if (request.readableLength < request.readableHighWaterMark) socket.resume();
  });
}
