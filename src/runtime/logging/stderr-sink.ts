import { writeSync } from 'node:fs';

/** Takes whole lines. */
export interface Sink {
  write(line: string): void;
}

const pauseMs = 5;
const mostPauses = 200;
const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes lines to a file descriptor at once, so that the last words of a crash are not lost.
 * Logging never takes the service down: a reader that went away, or a full pipe that stays
 * full for a second, costs lines and nothing else; only the first such line is waited for.
 */
export function descriptorSink(descriptor: number, pause: () => void = blockShortly): Sink {
  let pausesLeft = mostPauses;
  return {
    write(line) {
      let rest = Buffer.from(line);
      while (rest.length > 0) {
        const written = writeSome(descriptor, rest);
        if (written === 'broken' || (written === 0 && pausesLeft === 0)) return;
        if (written === 0) {
          pausesLeft--;
          pause();
        }
        rest = rest.subarray(written);
      }
      pausesLeft = mostPauses;
    },
  };
}

function blockShortly(): void {
  Atomics.wait(never, 0, 0, pauseMs);
}

function writeSome(descriptor: number, bytes: Buffer): number | 'broken' {
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : 'broken';
  }
}
