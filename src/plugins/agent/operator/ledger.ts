import type { ObservedHit } from '../hits/observed-hit.ts';
import type { NodeState } from './contract.ts';
import { HitCounts } from './hit-counts.ts';
import { countMessage, hitMessage } from './hit-message.ts';
import { HitQueue } from './hit-queue.ts';
import { stateMessage } from './state-message.ts';

export interface Identity {
  readonly node: string;
  /** Random, of this start of the agent. */
  readonly instance: string;
  readonly bootId: string;
  readonly version: string;
}

/** svc.operator.v1.NodeReportReply as loadProtoService reads it. */
export interface Reply {
  readonly acceptedHit: string;
  readonly sendState: boolean;
  readonly minIntervalMs: number;
}

/** A report and what it will have told. */
export interface Report {
  readonly message: object;
  readonly hits: number;
  /** The state in it; undefined where it was left out. */
  readonly stateText: string | undefined;
}

/** Hits that wait at most, equal ones taken as one. */
const queueCapacity = 10_000;
/** Bound of the schema. */
export const mostHits = 1_000;
/** How long it is taken for unchanged unless told otherwise: asking costs where there are many processes. */
const stateKeptMs = 5_000;

/** What the operator has been told, and what it has not. */
export class Ledger {
  readonly #identity: Identity;
  readonly #state: () => NodeState;
  readonly #counts = new HitCounts();
  readonly #queue = new HitQueue(queueCapacity);
  #sequence = 0;
  #toldState: string | undefined;
  #askAgainAt = 0;

  constructor(identity: Identity, state: () => NodeState) {
    this.#identity = identity;
    this.#state = state;
  }

  /** Hits that wait, equal ones taken as one. */
  get queued(): number {
    return this.#queue.size;
  }

  /** Hits that were given up, each one counted. */
  get dropped(): number {
    return this.#queue.dropped;
  }

  hit(hit: ObservedHit, count?: number, lastAt?: bigint): void {
    this.#counts.add(hit, count);
    this.#queue.add(hit, count, lastAt);
  }

  /** The state may be another one. */
  changed(): void {
    this.#askAgainAt = 0;
  }

  /** The next report: hits that wait and, where it differs from what was told, the state. */
  next(): Report {
    this.#sequence += 1;
    const hits = this.#queue.take(mostHits);
    const news = this.#stateNews();
    const message = { ...this.#head(), state: news?.state ?? null, hits: hits.map(hitMessage) };
    return { message, hits: hits.length, stateText: news?.text };
  }

  /** @returns whether the operator took something of it, or there was nothing but what it knew */
  answered({ hits, stateText }: Report, { acceptedHit, sendState }: Reply): boolean {
    const taken = this.#queue.accept(Number(acceptedHit));
    if (sendState) this.#toldState = undefined;
    else if (stateText !== undefined) this.#toldState = stateText;
    return hits === 0 || taken > 0;
  }

  /** The report before may have arrived or not. */
  unanswered(): void {
    this.changed();
  }

  /** The operator will not have the hits of this report, now or later. */
  refused(): void {
    this.#queue.refuse();
  }

  /** Until it was told it is news in each report. */
  #stateNews(): { state: object; text: string } | undefined {
    if (this.#toldState !== undefined && performance.now() < this.#askAgainAt) return undefined;
    const state = stateMessage(this.#state());
    const text = JSON.stringify(state);
    this.#askAgainAt = performance.now() + stateKeptMs;
    return text === this.#toldState ? undefined : { state, text };
  }

  #head(): object {
    const { node, instance, bootId, version } = this.#identity;
    return {
      node,
      instance,
      bootId,
      agentVersion: version,
      sequence: this.#sequence,
      sentUnixNano: String(BigInt(Date.now()) * 1_000_000n),
      counts: this.#counts.list().map(countMessage),
      droppedHits: this.#queue.dropped,
    };
  }
}
