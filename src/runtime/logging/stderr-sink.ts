import { writeSync } from 'node:fs';

/** Takes whole lines. */
export interface Sink {
  write(line: string): void;
}

const pauseMs = 5;
const mostPauses = 200;
const pageBytes = 4096;
const lineEnd = Buffer.from('\n');
const never = new Int32Array(new SharedArrayBuffer(4));

export interface DescriptorSinkOptions {
  /** Waits for a moment. */
  readonly pause?: () => void;
  /** Whether a write of a page comes back at once, for a descriptor that must stay blocking. */
  readonly ready?: (descriptor: number) => boolean;
}

/**
 * Writes lines to a file descriptor at once, so that the last words of a crash are not lost.
 * Logging never takes the service down: a reader that went away, or a full pipe that stays
 * full for a second, costs lines and nothing else; only the first such line is waited for.
 */
export function descriptorSink(descriptor: number, options: DescriptorSinkOptions = {}): Sink {
  const { pause = blockShortly, ready } = options;
  let pausesLeft = mostPauses;
  let torn = false;
  const writeSome = (bytes: Buffer) => {
    if (ready === undefined) return tryWrite(descriptor, bytes);
    return ready(descriptor) ? tryWrite(descriptor, bytes.subarray(0, pageBytes)) : 0;
  };
  return {
    write(line) {
      const whole = torn ? Buffer.concat([lineEnd, Buffer.from(line)]) : Buffer.from(line);
      let rest = whole;
      while (rest.length > 0) {
        const written = writeSome(rest);
        if (written === 'broken') return;
        if (written === 0 && pausesLeft === 0) {
          torn ||= rest.length < whole.length;
          return;
        }
        if (written === 0) {
          pausesLeft--;
          pause();
        }
        rest = rest.subarray(written);
      }
      pausesLeft = mostPauses;
      torn = false;
    },
  };
}

function blockShortly(): void {
  Atomics.wait(never, 0, 0, pauseMs);
}

function tryWrite(descriptor: number, bytes: Buffer): number | 'broken' {
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : 'broken';
  }
}
