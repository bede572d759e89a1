import { type Backoff, createBackoff } from '../lifecycle/backoff.ts';
import { sleep } from '../lifecycle/sleep.ts';
import { describeError } from '../logging/describe-error.ts';
import type { Logger } from '../logging/logger.ts';
import { hasCode, KubeError } from './errors.ts';
import { listAll } from './list.ts';
import type { KubeObject } from './objects.ts';
import { defaultTiming, type ReflectOptions, type Reflector, type ReflectTiming } from './reflect-options.ts';
import { createStore } from './store.ts';
import { watch } from './watch.ts';

/** Lists, then watches from there on, forever; every error is logged and followed by a pause. */
export function reflect<O extends KubeObject, T>(options: ReflectOptions<O, T>): Reflector<T> {
  const { client, signal, project } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const told = guarded(options);
  const store = createStore<O, T>(project, told);
  const firstList = Promise.withResolvers<void>();
  let synced = false;
  let connected = false;
  const setConnected = (now: boolean) => {
    if (connected === now) return;
    connected = now;
    told.onConnected(now);
  };
  const closed = followForever({
    ...{ path: options.path, log: options.log, signal, timing },
    async list() {
      const list = store.beginList();
      const version = await listAll<O>(client, options, list.put, signal);
      list.end();
      synced = true;
      told.onListed();
      firstList.resolve();
      return version;
    },
    watch(version, onVersion) {
      const handlers = {
        ...{ onPut: store.put, onRemove: store.remove, onVersion },
        onOpen: () => setConnected(true),
      };
      const timeoutMs = timing.watchMs * (1 + Math.random());
      return watch<O>(client, options, version, handlers, { timeoutMs, slackMs: timing.slackMs }, signal);
    },
    onLost(error) {
      setConnected(false);
      if (error !== undefined) told.onFailed(error);
    },
  }).finally(() => firstList.resolve());
  return {
    get synced() {
      return synced;
    },
    get connected() {
      return connected;
    },
    get size() {
      return store.size;
    },
    ...{ get: store.get, values: store.values, whenSynced: () => firstList.promise, closed },
  };
}

/** A handler that throws must not end the loop, nor make it repeat what it has done. */
function guarded<O extends KubeObject, T>(options: ReflectOptions<O, T>) {
  const run = (handle: () => void) => {
    try {
      handle();
    } catch (error) {
      options.log.error('kube.handler.failed', { path: options.path, ...describeError(error) });
    }
  };
  return {
    onAdd: (value: T) => run(() => options.onAdd?.(value)),
    onChange: (value: T, before: T) => run(() => options.onChange?.(value, before)),
    onDelete: (value: T) => run(() => options.onDelete?.(value)),
    onListed: () => run(() => options.onListed?.()),
    onConnected: (connected: boolean) => run(() => options.onConnected?.(connected)),
    onFailed: (error: unknown) => run(() => options.onFailed?.(error)),
  };
}

export interface Followed {
  readonly path: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly timing: ReflectTiming;
  /** Resolves with the version from which a watch goes on. */
  list(): Promise<string>;
  /** Resolves when the watch has ended in time. */
  watch(version: string, onVersion: (version: string) => void): Promise<void>;
  /** @param error undefined where the signal has ended it */
  onLost(error?: unknown): void;
}

/**
 * Lists once, then watches again and again. A lost connection costs a new watch from where the last one had got to;
 * whatever puts that place in doubt costs a new list. Resolves when the signal is aborted.
 */
async function followForever(followed: Followed): Promise<void> {
  const { signal, timing } = followed;
  const backoff = createBackoff({ initialMs: timing.initialBackoffMs, maxMs: timing.maxBackoffMs });
  let version: string | undefined;
  while (!signal.aborted) {
    try {
      version ??= await followed.list();
      await watchLong(followed, version, backoff, (reached) => {
        version = reached;
      });
    } catch (error) {
      if (signal.aborted) break;
      if (!mayPass(error)) version = undefined;
      await pause(followed, error, backoff);
    }
  }
  followed.onLost();
}

/** A watch that lives for a while is a success, however it ends; a short one is none. */
async function watchLong(
  { path, timing, watch }: Followed,
  version: string,
  backoff: Backoff,
  onVersion: (version: string) => void,
): Promise<void> {
  const began = performance.now();
  const isLong = () => performance.now() - began >= timing.stableMs;
  try {
    await watch(version, onVersion);
  } finally {
    if (isLong()) backoff.reset();
  }
  if (!isLong())
    throw new KubeError('KUBE_UNAVAILABLE', `The watch of ${path} ended as soon as it had begun`);
}

/** The version stays good while the API server is merely away, or does not let us in. */
function mayPass(error: unknown): boolean {
  return hasCode(error, 'KUBE_UNAVAILABLE', 'KUBE_DENIED');
}

async function pause(followed: Followed, error: unknown, backoff: Backoff): Promise<void> {
  const { path, log, signal, timing, onLost } = followed;
  onLost(error);
  const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
  const delayMs = Math.round(Math.max(backoff.next(), Math.min(asked, timing.maxBackoffMs)));
  log.warn('kube.watch.failed', { path, ...describeError(error), retryInMs: delayMs });
  await sleep(delayMs, signal).catch(() => {});
}
