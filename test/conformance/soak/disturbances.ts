import { setTimeout as sleep } from 'node:timers/promises';
import type { Rig } from '../../support/rig.ts';
import { Random } from './random.ts';

/** How long one lasts, and how long nothing is broken after it, in ms. */
const lasting = { least: 1_000, most: 8_000 };
const resting = { least: 6_000, most: 16_000 };
/** A request may still fail this long after the end of one, for the proxy's back-off; in ms. */
const recoveryMs = 5_000;

type Disturbance = readonly [name: string, begin: (rig: Rig) => unknown, end?: (rig: Rig) => Promise<void>];

const disturbances: readonly Disturbance[] = [
  ['key server away', ({ toVault }) => toVault.refuse()],
  ['key server hangs', ({ toVault }) => toVault.hang()],
  ['key server sealed', ({ bao }) => bao.seal(), ({ bao }) => bao.unseal()],
  ['key server slow', ({ toVault }) => toVault.delay(400)],
  ['key server answers 500', ({ toVault }) => toVault.answer(500, '{"errors":["internal error"]}')],
  ['store away', ({ toStore }) => toStore.refuse()],
  ['store hangs', ({ toStore }) => toStore.hang()],
  ['store slow', ({ toStore }) => toStore.delay(100)],
  ['store answers 503', ({ toStore }) => toStore.answer(503)],
  ['reads from the store cut', ({ toStore }) => toStore.cutAfter(300_000, 'to-client', 'reset')],
  ['reads from the store ended', ({ toStore }) => toStore.cutAfter(70_000, 'to-client', 'fin')],
  ['writes to the store cut', ({ toStore }) => toStore.cutAfter(300_000, 'to-server', 'reset')],
];

/** Breaks key server and store in turns, and knows when it did. */
export class Disturber {
  /** How often each was done. */
  readonly done = new Map<string, number>();
  /** The latest failure after the end of a disturbance, of a request that began after it; in ms. */
  latestMs = 0;
  readonly #rig: Rig;
  readonly #random: Random;
  #began = Number.NEGATIVE_INFINITY;
  #ended = Number.NEGATIVE_INFINITY;

  constructor(rig: Rig, seed: number) {
    this.#rig = rig;
    this.#random = new Random(`disturbances ${seed}`);
  }

  /** One after the other, with rests, until `over`. Each turn of all of them has the key rotated once. */
  async run(over: () => boolean): Promise<void> {
    while (!over()) {
      for (const one of disturbances) {
        await this.#rest();
        if (over()) return;
        await this.#disturb(one);
      }
      await this.#rig.bao.rotate();
    }
  }

  /** Whether a request that failed between these two moments had met a disturbance or its aftermath. */
  readonly mayFail = (began: number, ended: number): boolean => {
    if (this.#ended < this.#began) return true;
    if (began > this.#ended + recoveryMs) return false;
    if (began > this.#ended) this.latestMs = Math.max(this.latestMs, ended - this.#ended);
    return true;
  };

  async #disturb([name, begin, end]: Disturbance): Promise<void> {
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
    this.#began = performance.now();
    await begin(this.#rig);
    await this.#wait(lasting);
    await Promise.all([this.#rig.toVault.heal(), this.#rig.toStore.heal(), end?.(this.#rig)]);
    this.#ended = performance.now();
  }

  readonly #rest = () => this.#wait(resting);

  #wait({ least, most }: typeof lasting): Promise<void> {
    return sleep(least + this.#random.below(most - least));
  }
}
