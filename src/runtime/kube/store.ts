import { type KubeObject, keyOf } from './objects.ts';

export interface StoreHandlers<T> {
  onAdd?(value: T): void;
  onChange?(value: T, before: T): void;
  onDelete?(value: T): void;
}

/** The objects that are known, of each what `project` keeps of it. */
export interface Store<O, T> {
  readonly size: number;
  get(key: string): T | undefined;
  values(): IterableIterator<T>;
  put(object: O): void;
  remove(object: O): void;
  /** Begins a list: what it does not put again until it is told of its end has been deleted meanwhile. */
  beginList(): { put(object: O): void; end(): void };
}

interface Entry<T> {
  readonly uid: string;
  readonly version: string;
  readonly value: T;
}

/** A deleted object whose name was taken again counts as deleted and added, not as changed. */
export function createStore<O extends KubeObject, T>(
  project: (object: O) => T,
  handlers: StoreHandlers<T>,
): Store<O, T> {
  const entries = new Map<string, Entry<T>>();
  const drop = (key: string) => {
    const entry = entries.get(key);
    if (entries.delete(key) && entry !== undefined) handlers.onDelete?.(entry.value);
  };
  const put = (object: O) => {
    const { uid, resourceVersion: version } = object.metadata;
    const key = keyOf(object);
    const known = entries.get(key);
    if (known?.uid === uid && known.version === version) return;
    if (known !== undefined && known.uid !== uid) drop(key);
    const value = project(object);
    entries.set(key, { uid, version, value });
    if (known?.uid === uid) handlers.onChange?.(value, known.value);
    else handlers.onAdd?.(value);
  };
  return {
    get size() {
      return entries.size;
    },
    get: (key) => entries.get(key)?.value,
    values: () => valuesOf(entries),
    put,
    remove: (object) => drop(keyOf(object)),
    beginList() {
      const seen = new Set<string>();
      return {
        put(object) {
          seen.add(keyOf(object));
          put(object);
        },
        end() {
          for (const key of [...entries.keys()]) if (!seen.has(key)) drop(key);
        },
      };
    },
  };
}

function* valuesOf<T>(entries: ReadonlyMap<string, Entry<T>>): IterableIterator<T> {
  for (const { value } of entries.values()) yield value;
}
