import type { NodeReport, ReportedHit } from './read-report.ts';

/** What an instance of an agent has told. */
interface Instance {
  sequence: bigint;
  acceptedHit: number;
  droppedHits: number;
}

export interface Heard {
  /** Nothing newer of this instance was heard before, so that its state counts. */
  readonly newest: boolean;
  /** Those that were not taken before. */
  readonly hits: readonly ReportedHit[];
  /** How many more the agent gave up. */
  readonly dropped: number;
  readonly acceptedHit: number;
}

/** A late report of the instance before the last one must not be counted again; older ones do not come any more. */
const mostInstances = 4;

/** The last few starts of one node's agent: reports come at least once, and are told apart by number. */
export class Instances {
  readonly #known = new Map<string, Instance>();

  hear({ instance: id, sequence, hits, droppedHits }: NodeReport): Heard {
    const known = this.#known.get(id);
    // what an instance gave up before it was first heard of here, another replica may have counted
    const instance = known ?? {
      sequence: 0n,
      acceptedHit: 0,
      droppedHits: sequence === 1n ? 0 : droppedHits,
    };
    const fresh = hits.filter(({ number }) => number > instance.acceptedHit);
    const newest = sequence > instance.sequence;
    const dropped = Math.max(0, droppedHits - instance.droppedHits);
    instance.acceptedHit = fresh.at(-1)?.number ?? instance.acceptedHit;
    instance.droppedHits += dropped;
    if (newest) instance.sequence = sequence;
    this.#keep(id, instance);
    return { newest, hits: fresh, dropped, acceptedHit: instance.acceptedHit };
  }

  #keep(id: string, instance: Instance): void {
    this.#known.delete(id);
    this.#known.set(id, instance);
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostInstances && oldest !== undefined) this.#known.delete(oldest);
  }
}
