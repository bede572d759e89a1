import { messageOf } from '../../../core/errors.ts';
import type { Health } from '../../../runtime/health/health.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';

/** Longer than an API server takes to start anew, and than the pauses between attempts. */
export const defaultStaleMs = 60_000;

/** What a reflector tells of one kind of object. */
export interface Heard {
  readonly onListed: () => void;
  readonly onConnected: (connected: boolean) => void;
  /** Its message stands beside what is wrong for as long as that lasts. */
  readonly onFailed: (error: unknown) => void;
}

/** Whether what is known of each kind of object can be relied upon. */
export interface WatchState {
  /** @param resource such as `pods`; it counts as not listed from now on */
  of(resource: string): Heard;
  close(): void;
}

/** Not ready until all kinds were listed once, degraded while a watch has been away for longer than `staleMs`. */
export function createWatchState(health: Health, metrics: Metrics, staleMs = defaultStaleMs): WatchState {
  const open = metrics.gauge('svc_cluster_watch_connected', '1 while the watch of these objects is open', [
    'resource',
  ]);
  const closers: (() => void)[] = [];
  return {
    of(resource) {
      const listing = createListing(resource, health);
      const watching = createWatching(resource, health, staleMs);
      closers.push(watching.close);
      open.set(0, { resource });
      return {
        onListed: listing.done,
        onConnected(connected) {
          open.set(connected ? 1 : 0, { resource });
          if (connected) watching.heard();
          else watching.lost();
        },
        onFailed(error) {
          const reason = messageOf(error);
          listing.failed(reason);
          watching.failed(reason);
        },
      };
    },
    close() {
      for (const close of closers) close();
    },
  };
}

function createListing(resource: string, health: Health) {
  const condition = `cluster.${resource}`;
  const what = `the ${resource} of the cluster are not listed yet`;
  let listed = false;
  health.notReady(condition, what);
  return {
    done() {
      listed = true;
      health.ready(condition);
    },
    failed(reason: string) {
      if (!listed) health.notReady(condition, `${what}: ${reason}`);
    },
  };
}

function createWatching(resource: string, health: Health, staleMs: number) {
  const condition = `watch.${resource}`;
  let timer: NodeJS.Timeout | undefined;
  let since = '';
  let why = '';
  let stale = false;
  const degrade = () => {
    stale = true;
    health.degraded(condition, `nothing is heard of ${resource} since ${since}${why}`);
  };
  const lost = () => {
    since = new Date().toISOString();
    clearTimeout(timer);
    timer = setTimeout(degrade, staleMs);
  };
  lost();
  return {
    lost,
    heard() {
      clearTimeout(timer);
      why = '';
      stale = false;
      health.recovered(condition);
    },
    failed(reason: string) {
      why = `: ${reason}`;
      if (stale) degrade();
    },
    close: () => clearTimeout(timer),
  };
}
