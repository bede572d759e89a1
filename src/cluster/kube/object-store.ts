import { type KubeObject, keyOf } from './client.ts';
import {
  type Keeping,
  type KeptObject,
  type LeftOut,
  type MarkReason,
  ObjectKeeper,
  type ObjectPlace,
} from './object-keeper.ts';

/** An object recreated under its name counts as deleted and added, not as changed. */
export function createStore<O extends KubeObject, T>(
  project: (object: O) => T,
  handlers: StoreHandlers<T>,
  keeping?: Keeping<T>,
  projectOutline = project,
): ReflectedStore<O, T> {
  const entries = new Map<string, Entry<T>>();
  const keeper = new ObjectKeeper(keeping);
  /** Keys of what stands for the objects of a namespace of which nothing is kept. */
  const standIns = new Set<string>();
  let mayHaveGone = false;
  const release = ({ mark, ...entry }: Entry<T>) => mark !== 'left out' && keeper.release({ mark, ...entry });
  const drop = (key: string) => {
    const entry = entries.get(key);
    if (!entries.delete(key) || entry === undefined) return;
    standIns.delete(key);
    release(entry);
    handlers.onDelete?.(entry.value);
  };
  const set = (key: string, entry: Entry<T>, known: Entry<T> | undefined) => {
    entries.set(key, entry);
    if (known?.uid === entry.uid) handlers.onChange?.(entry.value, known.value);
    else handlers.onAdd?.(entry.value);
  };
  /** @returns the key under which something is known of the object */
  const leaveOut = ({ metadata }: O, unused: T): string => {
    const { uid, resourceVersion: version, namespace = '' } = metadata;
    const key = standInKeyOf(namespace);
    const known = entries.get(key);
    const isOther = known !== undefined && known.uid !== uid;
    if (isOther || known?.version === version) return key;
    const value = keeping?.standIn(unused, key) ?? unused;
    standIns.add(key);
    set(key, { uid, version, namespace, value, mark: 'left out', charge: undefined }, known);
    return key;
  };
  /** @returns the key under which something is known of the object */
  const putNew = (object: O, kept: KeptObject<T> | LeftOut<T>, known: Entry<T> | undefined): string => {
    const { uid, resourceVersion: version } = object.metadata;
    const key = keyOf(object);
    if (kept.mark !== 'left out') {
      set(key, { ...kept, uid, version }, known);
      return key;
    }
    const other = leaveOut(object, kept.value);
    if (known !== undefined && entries.delete(key)) handlers.onDelete?.(known.value);
    return other;
  };
  /** @param isBuilt whether it is no outline @returns as above */
  const putAs = (object: O, project: (object: O) => T, isBuilt: boolean): string => {
    const { uid, resourceVersion: version } = object.metadata;
    const key = keyOf(object);
    const place = placeOf(object);
    if (entries.get(key)?.uid !== uid) drop(key);
    const known = entries.get(key);
    if (known?.version === version) {
      const whole = known.mark === 'no room' ? keeper.keepWhole(place, project(object)) : undefined;
      if (whole === undefined) return key;
      release(known);
      return putNew(object, whole, known);
    }
    if (known !== undefined) release(known);
    const value = project(object);
    return putNew(object, isBuilt ? keeper.keep(place, value) : keeper.keepOutline(place, value), known);
  };
  const put = (object: O) => putAs(object, project, true);
  const putOutline = (outline: O) => putAs(outline, projectOutline, false);
  return {
    get size() {
      return entries.size;
    },
    get wantsList() {
      return mayHaveGone || keeper.mayFit(standIns.size > 0);
    },
    get: (key) => entries.get(key)?.value,
    values: () => valuesOf(entries),
    put: (object) => void put(object),
    putOutline: (outline) => void putOutline(outline),
    remove(object) {
      const key = keyOf(object);
      if (entries.has(key)) drop(key);
      else mayHaveGone ||= standIns.has(standInKeyOf(object.metadata.namespace ?? ''));
    },
    beginList() {
      const seen = new Set<string>();
      keeper.listed();
      mayHaveGone = false;
      return {
        put: (object) => void seen.add(put(object)),
        putOutline: (outline) => void seen.add(putOutline(outline)),
        end() {
          for (const key of [...entries.keys()]) if (!seen.has(key)) drop(key);
        },
      };
    },
  };
}

export interface StoreHandlers<T> {
  onAdd?(value: T): void;
  onChange?(value: T, before: T): void;
  onDelete?(value: T): void;
}

/** The known objects, each as kept by `project`. */
export interface ReflectedStore<O, T> {
  readonly size: number;
  /** Whether an object that did not fit might fit now. */
  readonly wantsList: boolean;
  get(key: string): T | undefined;
  values(): IterableIterator<T>;
  put(object: O): void;
  /** Puts an object that is too large to be built. */
  putOutline(outline: O): void;
  remove(object: O): void;
  /** Begins a list; objects that are missing from it were deleted meanwhile. */
  beginList(): Pick<ReflectedStore<O, T>, 'put' | 'putOutline'> & { end(): void };
}

interface Entry<T> extends Omit<KeptObject<T>, 'mark'> {
  readonly uid: string;
  readonly version: string;
  readonly mark: MarkReason | 'left out' | undefined;
}

function placeOf({ metadata: { namespace, name } }: KubeObject): ObjectPlace {
  return { namespace: namespace ?? name, isClusterWide: namespace === undefined };
}

/** No object has it, because none is without a name. */
const standInKeyOf = (namespace: string): string => `${namespace}/`;

function* valuesOf<T>(entries: ReadonlyMap<string, Entry<T>>): IterableIterator<T> {
  for (const { value } of entries.values()) yield value;
}
