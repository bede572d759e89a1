import type { IncomingMessage } from 'node:http';

/** What is read of a body that nobody wants, before the connection is closed over the rest. */
const bounds = { bytes: 16 * 1024 * 1024, milliseconds: 5_000 };

/** Reads and drops the rest of a body, within bounds; never rejects. */
export function drain(request: IncomingMessage, { bytes, milliseconds } = bounds): Promise<void> {
  return new Promise((resolve) => {
    let left = bytes;
    const timer = setTimeout(finish, milliseconds);
    const onData = (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) finish();
    };
    function finish() {
      clearTimeout(timer);
      request.off('data', onData).pause();
      resolve();
    }
    if (request.readableEnded || request.destroyed) return finish();
    request.once('end', finish).once('close', finish).once('error', finish).on('data', onData).resume();
  });
}
