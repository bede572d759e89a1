import { Budget } from '../../runtime/bounds/budget.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * Memory of all reviews that are being read or decided. The largest that is parsed takes 30 MiB; a usual one of 10 KiB
 * takes 150 KiB, and 800 while it is being read.
 */
export const maxReviewMemory = 31 * MiB;

/** Memory of all answers that are being made or sent. The largest takes 11 MiB, a usual one 50 KiB. */
export const maxAnswerMemory = 12 * MiB;

/** Reports of agents that are longer than the window of their connection. */
const maxReportMemory = 8 * MiB;

/** Of an agent's connection with a report that has begun; an idle one takes 70 KiB. */
const bytesOfConnection = 152 * KiB;

/** Each agent has one connection, and the registry holds at most 5,000 nodes. */
const maxConnections = 6_000;
const minConnections = 128;

/**
 * How many agents' connections fit into a container of that many bytes while no review needs their memory; 0 or a huge
 * number: without a limit. A connection more ends another one, whose agent connects again when it reports.
 */
export function connectionsIn(memory: number): number {
  if (memory === 0) return maxConnections;
  const fit = minConnections + Math.floor(((memory - 128 * MiB) / MiB) * 3);
  return Math.min(maxConnections, Math.max(minConnections, fit));
}

/**
 * What callers make the operator hold at a time: 43 MiB in a container of 128 MiB, beside the process itself (36), the
 * objects of the cluster (16) and the states of agents (7); 26 are left for garbage and holes. Reviews may take all of it, and
 * agents what reviews leave: they lose their connections while a review waits for the memory, and connect again.
 */
export class CallerMemory {
  readonly reviews: Budget;
  readonly answers: Budget;
  readonly reports: Budget;
  readonly #connections: Budget;
  #endConnection: () => boolean = () => false;

  /** @param connections of agents, at most */
  constructor(connections = connectionsIn(process.constrainedMemory())) {
    const ofConnections = connections * bytesOfConnection;
    const ofReviews = maxReviewMemory + maxAnswerMemory;
    const whole = new Budget(Math.max(ofReviews, ofConnections + maxReportMemory));
    // in the order in which they get what becomes free
    this.answers = new Budget(maxAnswerMemory, 'smallest', whole);
    this.reviews = new Budget(maxReviewMemory, 'smallest', whole);
    this.reports = new Budget(maxReportMemory, 'first', whole);
    this.#connections = new Budget(ofConnections, 'first', whole);
  }

  /** @returns gives it back; undefined if there is none, or a review waits for it */
  holdConnection(): (() => void) | undefined {
    if (this.#reviewsLack()) return undefined;
    const share = this.#connections.ask(bytesOfConnection);
    return share.giveUp() ? undefined : () => share.release();
  }

  /** @param end ends a connection of agents, and gives back what it holds; returns false if there is none */
  onNeeded(end: () => boolean): void {
    this.#endConnection = end;
  }

  /** Call it when a review waits. */
  takeFromAgents(): void {
    while (this.#reviewsLack() && this.#endConnection());
  }

  #reviewsLack(): boolean {
    return this.answers.lacksWhole || this.reviews.lacksWhole;
  }
}
