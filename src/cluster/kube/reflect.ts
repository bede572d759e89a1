import { type Backoff, createBackoff, sleep } from '../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../runtime/logging/logger.ts';
import { hasCode, type KubeClient, KubeError, type KubeObject } from './client.ts';
import { listAll, type Selection } from './list.ts';
import type { Keeping } from './object-keeper.ts';
import { createStore, type StoreHandlers } from './object-store.ts';
import { watch } from './watch.ts';

/** Lists, then watches, forever; every error is logged and followed by a pause. */
export function reflect<O extends KubeObject, T>(options: ReflectOptions<O, T>): Reflector<T> {
  const { client, signal, project } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const told = guarded(options);
  const { keeping, projectOutline } = options;
  const store = createStore<O, T>(project, told, keeping, projectOutline);
  const outlines = keeping !== undefined || projectOutline !== undefined;
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
      const putOutline = outlines ? list.putOutline : undefined;
      const version = await listAll<O>(client, options, list.put, signal, putOutline);
      list.end();
      synced = true;
      told.onListed();
      firstList.resolve();
      return version;
    },
    watch(version, onVersion) {
      const handlers = {
        ...{ onPut: store.put, onRemove: store.remove, onVersion },
        ...(outlines && { onPutOutline: store.putOutline }),
        onOpen: () => setConnected(true),
      };
      const timeoutMs = timing.watchMs * (1 + Math.random());
      return watch<O>(client, options, version, handlers, { timeoutMs, slackMs: timing.slackMs }, signal);
    },
    onLost(error) {
      setConnected(false);
      if (error !== undefined) told.onFailed(error);
    },
    wantsList: () => store.wantsList,
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

/** A handler that throws must neither end the loop nor cause a repetition. */
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
  /** Resolves with the version from which a watch continues. */
  list(): Promise<string>;
  /** Resolves if the watch ended at its regular time. */
  watch(version: string, onVersion: (version: string) => void): Promise<void>;
  /** @param error undefined if the signal ended the watch */
  onLost(error?: unknown): void;
  /** Asked after each watch: whether to list again, although the version is valid. */
  wantsList(): boolean;
}

/**
 * Lists once, then watches repeatedly. After a lost connection, a new watch continues where the last one ended; if that
 * version is in doubt, it lists again. Resolves when the signal is aborted.
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
      if (followed.wantsList()) version = undefined;
    } catch (error) {
      if (signal.aborted) break;
      if (!mayPass(error)) version = undefined;
      await pause(followed, error, backoff);
    }
  }
  followed.onLost();
}

/** A watch that lasts for a while counts as a success, however it ends; a short one does not. */
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

/** The version stays valid if the API server is only unavailable or refuses the credentials. */
function mayPass(error: unknown): boolean {
  return hasCode(error, 'KUBE_UNAVAILABLE', 'KUBE_DENIED', 'KUBE_UNAUTHENTICATED', 'KUBE_UNTRUSTED');
}

async function pause(followed: Followed, error: unknown, backoff: Backoff): Promise<void> {
  const { path, log, signal, timing, onLost } = followed;
  onLost(error);
  const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
  const delayMs = Math.round(Math.max(backoff.next(), Math.min(asked, timing.maxBackoffMs)));
  log.warn('kube.watch.failed', { path, ...describeError(error), retryInMs: delayMs });
  await sleep(delayMs, signal).catch(() => {});
}

export interface ReflectTiming {
  /** Minimum duration of a watch; each lasts up to twice as long, so that clients do not all reconnect at once. */
  readonly watchMs: number;
  /** Time after its regular end at which a watch counts as disconnected. */
  readonly slackMs: number;
  /** A watch that ends sooner counts as failed. */
  readonly stableMs: number;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
}

const defaultTiming: ReflectTiming = {
  watchMs: 120_000,
  slackMs: 15_000,
  stableMs: 1_000,
  initialBackoffMs: 500,
  maxBackoffMs: 30_000,
};

export interface ReflectOptions<O extends KubeObject, T> extends Selection, StoreHandlers<T> {
  readonly client: KubeClient;
  /** Extracts the needed part of an object; the rest is discarded at once. */
  readonly project: (object: O) => T;
  /**
   * What is kept of an object that is too large to be built, of which only an outline is read. Default with `keeping`: a
   * mark of what `project` makes of it. Without both, such an object is built.
   */
  readonly projectOutline?: (outline: O) => T;
  /** Without it, everything is kept whole. */
  readonly keeping?: Keeping<T>;
  /** Called after each complete list, once its objects were handled. */
  readonly onListed?: () => void;
  /** Called when a watch was opened or has ended. */
  readonly onConnected?: (connected: boolean) => void;
  /** Called when a list or watch has failed; it is retried after a pause. */
  readonly onFailed?: (error: unknown) => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly timing?: Partial<ReflectTiming>;
}

/** A local copy that follows the API server, and is kept while the API server is down. */
export interface Reflector<T> {
  /** True after the first complete list. */
  readonly synced: boolean;
  readonly connected: boolean;
  readonly size: number;
  /** @param key `namespace/name`, or the name for kinds without namespaces */
  get(key: string): T | undefined;
  values(): IterableIterator<T>;
  /** Resolves with the first complete list, or without one when the signal is aborted. */
  whenSynced(): Promise<void>;
  /** Resolves once the signal was aborted and no work is in progress; never rejects. */
  readonly closed: Promise<void>;
}
