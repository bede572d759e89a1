import { bootTime } from '../guard/boot-time.ts';

export interface Clock {
  /** Nanoseconds since boot as nanoseconds since 1970, to 10 ms; follows when the node's clock is set. */
  wallTime(sinceBoot: bigint): bigint;
  /** Runs it once, later. */
  after(milliseconds: number, run: () => void): void;
}

export interface TimeSources {
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Nanoseconds since boot. */
  readonly boot: () => bigint;
  /** Milliseconds of a clock that nobody sets. */
  readonly steady: () => number;
}

const system: TimeSources = { wall: Date.now, boot: bootTime, steady: () => performance.now() };

const lookEveryMs = 1_000;
/** The readings are coarse: smaller differences would make hits that follow each other change places. */
const jitter = 50_000_000n;

export function createClock({ wall, boot, steady }: TimeSources = system): Clock {
  let bootedAt: bigint | undefined;
  let lookedAt = 0;
  const look = () => {
    const now = BigInt(wall()) * 1_000_000n - boot();
    if (bootedAt === undefined || now - bootedAt > jitter || bootedAt - now > jitter) bootedAt = now;
    lookedAt = steady();
    return bootedAt;
  };
  return {
    wallTime(sinceBoot) {
      const isFresh = bootedAt !== undefined && steady() - lookedAt < lookEveryMs;
      return sinceBoot + (isFresh && bootedAt !== undefined ? bootedAt : look());
    },
    after(milliseconds, run) {
      setTimeout(run, milliseconds).unref();
    },
  };
}
