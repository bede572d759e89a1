import type { PartList } from '../../../core/envelope/manifest.ts';

/** About what a part takes in memory, in bytes. */
const partCost = 400;
const listCost = 1000;

/** Part lists whose seals were verified, the latest used kept, at most `budget` bytes of them. They hold wrapped keys only. */
export class VerifiedLists {
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
