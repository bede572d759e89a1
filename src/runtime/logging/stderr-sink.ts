import { writeSync } from 'node:fs';

/** Takes whole lines. */
export interface Sink {
  write(line: string): void;
}

const longestWaitMs = 1_000;
const pauseMs = 5;
const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes lines to a file descriptor at once, so that the last words of a crash are not lost.
 * Logging never takes the service down: a reader that went away, or a full pipe that
 * stays full for a second, costs lines and nothing else.
 */
export function descriptorSink(descriptor: number): Sink {
  return { write: (line) => writeAll(descriptor, Buffer.from(line)) };
}

function writeAll(descriptor: number, bytes: Buffer): void {
  let at = 0;
  let waited = 0;
  while (at < bytes.length && waited < longestWaitMs) {
    const written = writeSome(descriptor, bytes.subarray(at));
    if (written === 'broken') return;
    at += written;
    if (written > 0) continue;
    Atomics.wait(pause, 0, 0, pauseMs);
    waited += pauseMs;
  }
}

function writeSome(descriptor: number, bytes: Buffer): number | 'broken' {
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : 'broken';
  }
}
