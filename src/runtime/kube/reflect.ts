import { describeError } from '../logging/describe-error.ts';
import { followForever } from './follow.ts';
import { listAll } from './list.ts';
import type { KubeObject } from './objects.ts';
import { defaultTiming, type ReflectOptions, type Reflector } from './reflect-options.ts';
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
