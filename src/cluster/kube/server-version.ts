import { createBackoff, sleep } from '../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../runtime/logging/logger.ts';
import { isText, type KubeClient, member } from './client.ts';

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
}

export interface FollowedVersion {
  /** The latest known version; undefined before the first. */
  readonly current: ServerVersion | undefined;
  /** Returns a function that tells whether the server has at least this version; false while unknown. */
  atLeast(major: number, minor: number): () => boolean;
  /** Resolves with the first answer, or without one when the signal is aborted. */
  readonly known: Promise<void>;
  /** Resolves after the signal was aborted; never rejects. */
  readonly closed: Promise<void>;
}

const defaultIntervalMs = 10 * 60_000;

/** The API server's version, read periodically, because clusters are upgraded while this process runs. */
export function followServerVersion(
  client: KubeClient,
  log: Logger,
  signal: AbortSignal,
  intervalMs: number = defaultIntervalMs,
): FollowedVersion {
  let current: ServerVersion | undefined;
  const known = Promise.withResolvers<void>();
  const backoff = createBackoff({ initialMs: 500, maxMs: 30_000 });
  const once = async (): Promise<number> => {
    try {
      current = readVersion(await client.request({ path: '/version', signal })) ?? current;
      if (current !== undefined) known.resolve();
      backoff.reset();
      return intervalMs * (1 + Math.random() / 10);
    } catch (error) {
      if (!signal.aborted) log.warn('kube.version.unknown', describeError(error));
      return backoff.next();
    }
  };
  const forever = async () => {
    while (!signal.aborted) {
      const pauseMs = await once();
      await sleep(pauseMs, signal).catch(() => {});
    }
  };
  return {
    get current() {
      return current;
    },
    atLeast: (major, minor) => () => isAtLeast(current, major, minor),
    known: known.promise,
    closed: forever().finally(known.resolve),
  };
}

/** Providers append to the minor version: `28+`. */
export function readVersion(answer: unknown): ServerVersion | undefined {
  const { major, minor } = member({ answer }, 'answer');
  const [one, two] = [major, minor].map((part) => (isText(part) ? Number.parseInt(part, 10) : Number.NaN));
  return Number.isInteger(one) && Number.isInteger(two)
    ? { major: one as number, minor: two as number }
    : undefined;
}

export function isAtLeast(version: ServerVersion | undefined, major: number, minor: number): boolean {
  if (version === undefined) return false;
  return version.major > major || (version.major === major && version.minor >= minor);
}
