import { performance } from 'node:perf_hooks';
import type { Bed, Counters } from './bed.ts';
import { type Kinds, keyServerKind, storeKind, takeKinds } from './request-kinds.ts';

/** What one stage of the object's life cost. */
export interface Stage {
  readonly name: string;
  readonly seconds: number;
  /** Undefined where nothing was counted. */
  readonly store: Kinds | undefined;
  readonly keyServer: Kinds | undefined;
  /** Body bytes that the store sent to the proxy; 0 where nothing was counted. */
  readonly fetched: number;
  /** Most resident memory that the proxy's process has had by then. Bytes. */
  readonly peak: number;
}

/** Measures stages one after the other. */
export class Stages {
  readonly all: Stage[] = [];
  readonly #bed: Bed;

  constructor(bed: Bed) {
    this.#bed = bed;
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { counters, proxy } = this.#bed;
    counters?.store.clear();
    counters?.keyServer.clear();
    const begun = performance.now();
    const result = await work();
    const seconds = (performance.now() - begun) / 1000;
    this.all.push({ name, seconds, peak: proxy.rss().peak, ...counted(counters) });
    return result;
  }

  /** @throws Error when no stage of that name has run */
  named(name: string): Stage {
    const stage = this.all.find((one) => one.name === name);
    if (!stage) throw new Error(`There was no stage "${name}".`);
    return stage;
  }
}

function counted(counters: Counters | undefined): Pick<Stage, 'store' | 'keyServer' | 'fetched'> {
  if (!counters) return { store: undefined, keyServer: undefined, fetched: 0 };
  return {
    store: takeKinds(counters.store, storeKind),
    keyServer: takeKinds(counters.keyServer, keyServerKind),
    fetched: counters.store.fetchedBytes(),
  };
}

export const requestsOf = (kinds: Kinds | undefined): number =>
  [...(kinds?.values() ?? [])].reduce((sum, count) => sum + count, 0);
