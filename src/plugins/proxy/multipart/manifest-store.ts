import { createHash } from 'node:crypto';
import type { ObjectName } from '../../../core/envelope/binding.ts';
import { EnvelopeError } from '../../../core/envelope/error.ts';
import {
  type PartList,
  readPartList,
  serializePartList,
  verifySeal,
} from '../../../core/envelope/manifest.ts';
import type { Envelope } from '../../../core/envelope/metadata.ts';
import { manifestKey } from '../../../core/envelope/records.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { DelayedRemovals } from '../state/delayed-removals.ts';
import { Remembered } from '../state/remembered.ts';
import type { StateStore } from '../state/state-store.ts';
import { manifestText, readManifest } from './manifest-text.ts';
import type { Manifests } from './manifests.ts';

/** 10,000 parts of the longest form take 4 MB. */
export const manifestLimit = 8 * 1024 * 1024;
/** Readers that saw the pointer are done with the manifest by then. */
const graceMs = 5 * 60 * 1000;
const presenceLifeMs = 30_000;

interface ManifestStoreOptions {
  readonly state: StateStore;
  readonly keys: DataKeys;
  readonly reservedPrefix: string;
  readonly removals: DelayedRemovals;
}

export function createManifests({ state, keys, reservedPrefix, removals }: ManifestStoreOptions): Manifests {
  const verified = new VerifiedLists();
  const present = new Remembered((bucket) => anyIn(state, bucket, reservedPrefix), presenceLifeMs, Date.now);

  async function loadManifest(name: ObjectName, id: string, seal: string): Promise<PartList> {
    const text = await state.get(name.bucket, manifestKey(reservedPrefix, name, id), manifestLimit);
    if (text === undefined)
      throw new EnvelopeError('manifest-missing', `the part list ${id} that the object names does not exist`);
    const list = readManifest(text, name);
    if (list.manifest !== id || list.seal !== seal)
      throw new EnvelopeError('manifest-forged', 'the part list is not the one that the object names');
    return list;
  }

  async function verify(name: ObjectName, envelope: Envelope, list: PartList, signal?: AbortSignal) {
    const purpose = { kind: 'seal', upload: list.manifest } as const;
    const [sealKey] = await keys.unwrap(name, envelope, [{ wrapped: list.seal, purpose }], signal);
    if (sealKey === undefined) throw new EnvelopeError('manifest-forged', 'the seal key cannot be had');
    try {
      verifySeal(sealKey, list);
    } finally {
      sealKey.fill(0);
    }
  }

  return {
    async load(name, envelope, signal) {
      const { keys: stored } = envelope;
      if (stored.form === 'single') throw new TypeError('an object of one part has no part list');
      const id = cacheKey(
        name,
        stored.form === 'inline' ? fingerprint(stored.list) : `${stored.manifest} ${stored.seal}`,
      );
      const known = verified.get(id);
      if (known !== undefined) return known;
      const list =
        stored.form === 'inline' ? stored.list : await loadManifest(name, stored.manifest, stored.seal);
      await verify(name, envelope, list, signal);
      verified.set(id, list);
      return list;
    },
    async find(name, id) {
      const text = await state.get(name.bucket, manifestKey(reservedPrefix, name, id), manifestLimit);
      return text === undefined ? undefined : readManifest(text, name);
    },
    async save(name, list) {
      readPartList(JSON.parse(serializePartList(list)));
      present.set(name.bucket, Promise.resolve(true));
      await state.put(
        name.bucket,
        manifestKey(reservedPrefix, name, list.manifest),
        manifestText(name, list),
      );
    },
    async remove(name, id) {
      await state.delete(name.bucket, [manifestKey(reservedPrefix, name, id)]);
    },
    removeLater: (name, id) => removals.add(name.bucket, manifestKey(reservedPrefix, name, id), graceMs),
    mayExist: (bucket) => present.get(bucket),
  };
}

/** False too where the store does not say: what then stays behind is left to `svc proxy gc`. */
async function anyIn(state: StateStore, bucket: string, reservedPrefix: string): Promise<boolean> {
  try {
    for await (const page of state.list(bucket, `${reservedPrefix}manifests/`)) return page.length > 0;
    return false;
  } catch {
    return false;
  }
}

const cacheKey = (name: ObjectName, id: string) => JSON.stringify([name.bucket, name.key, id]);

const fingerprint = (list: PartList) => createHash('sha256').update(serializePartList(list)).digest('base64');

/** About what a part takes in memory, in bytes. */
const partCost = 400;
const listCost = 1000;

/** Part lists whose seals were verified, the latest used kept, at most `budget` bytes of them. They hold wrapped keys only. */
class VerifiedLists {
  readonly #lists = new Map<string, PartList>();
  readonly #budget: number;
  #used = 0;

  constructor(budget = 6 * 1024 * 1024) {
    this.#budget = budget;
  }

  get(id: string): PartList | undefined {
    const list = this.#lists.get(id);
    if (list === undefined) return undefined;
    this.#lists.delete(id);
    this.#lists.set(id, list);
    return list;
  }

  set(id: string, list: PartList): void {
    this.#forget(id);
    if (cost(list) > this.#budget) return;
    this.#lists.set(id, list);
    this.#used += cost(list);
    for (const oldest of this.#lists.keys()) {
      if (this.#used <= this.#budget) break;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    const list = this.#lists.get(id);
    if (list === undefined) return;
    this.#lists.delete(id);
    this.#used -= cost(list);
  }
}

const cost = (list: PartList) => listCost + list.parts.length * partCost;
