import type { ServerHttp2Stream } from 'node:http2';
import { Budget } from '../../../runtime/bounds/budget.ts';
import { checkLength, ReportRefused } from './read-report.ts';

/** Reports up to this many bytes are read at once: the flow control of HTTP/2 lets a connection send as much anyway. */
export const smallReport = 16_384;

const bounds = {
  /** Whole reports that are answered at a time. */
  answers: 8,
  /** Larger reports in memory: 8 MiB. */
  places: 8,
  /** Of these, for one address, so that a slow agent holds up only those behind its own. */
  placesOfPeer: 2,
  /** With those that wait for a place, of which some 80 KiB each have arrived. */
  reports: 64,
  reportsOfPeer: 16,
};

interface Peer {
  readonly places: Budget;
  reports: number;
}

/** What the reports of all connections share. */
export class ReportPlaces {
  readonly answers = new Budget(bounds.answers);
  readonly places = new Budget(bounds.places);
  /** Bytes of larger reports. */
  readonly memory: Budget;
  readonly #peers = new Map<string, Peer>();
  #reports = 0;

  constructor(memory: Budget) {
    this.memory = memory;
  }

  /**
   * Counts a larger report from an address.
   * @returns the places of the address, and what ends the report
   * @throws ReportRefused RESOURCE_EXHAUSTED
   */
  begin(address: string): { readonly ofPeer: Budget; readonly end: () => void } {
    const peer = this.#peers.get(address) ?? { places: new Budget(bounds.placesOfPeer), reports: 0 };
    if (this.#reports >= bounds.reports || peer.reports >= bounds.reportsOfPeer)
      throw new ReportRefused('RESOURCE_EXHAUSTED', 'too many large reports at the same time');
    this.#peers.set(address, peer);
    this.#reports += 1;
    peer.reports += 1;
    const end = () => {
      this.#reports -= 1;
      peer.reports -= 1;
      if (peer.reports === 0) this.#peers.delete(address);
    };
    return { ofPeer: peer.places, end };
  }
}

/** Milliseconds from the beginning of a report to its answer. */
const reportTimeoutMs = 10_000;

/** A byte for compression and four for the length. */
const headLength = 5;

/** The report of one call, from its first byte to the answer. */
export class IncomingReport {
  readonly #stream: ServerHttp2Stream;
  readonly #places: ReportPlaces;
  readonly #peer: string;
  readonly #over = new AbortController();
  readonly #held: (() => void)[] = [];

  /** @param refuse answers a late call, and closes it */
  constructor(
    stream: ServerHttp2Stream,
    places: ReportPlaces,
    peer: string,
    refuse: (why: ReportRefused) => void,
  ) {
    this.#stream = stream;
    this.#places = places;
    this.#peer = peer;
    const over = this.#over;
    const given = () => over.abort(new ReportRefused('CANCELLED', 'the agent has given up'));
    stream.once('close', given);
    const late = () => {
      over.abort(new ReportRefused('DEADLINE_EXCEEDED', 'the report did not arrive in time'));
      refuse(over.signal.reason);
    };
    const timer = setTimeout(late, reportTimeoutMs).unref();
    this.#held.push(() => clearTimeout(timer));
  }

  /**
   * Reads the one message of the call, and waits for the turn to answer it. Its length comes first, so nothing is read
   * of a report that is too long, and its memory is taken once.
   * @throws ReportRefused
   */
  async read(): Promise<Buffer> {
    const message = await this.#message();
    await this.#hold(this.#places.answers);
    return message;
  }

  /** Gives back what it holds. */
  end(): void {
    for (const giveBack of this.#held.splice(0)) giveBack();
  }

  async #message(): Promise<Buffer> {
    let head: Buffer | undefined = Buffer.alloc(0);
    let message = head;
    let filled = 0;
    for await (const piece of this.#pieces()) {
      let rest = piece;
      if (head !== undefined) {
        head = Buffer.concat([head, piece]);
        if (head.length < headLength) continue;
        message = await this.#room(lengthIn(head));
        rest = head.subarray(headLength);
        head = undefined;
      }
      if (rest.length > message.length - filled) throw notOne();
      filled += rest.copy(message, filled);
    }
    this.#over.signal.throwIfAborted();
    if (head !== undefined || filled < message.length) throw notOne();
    return message;
  }

  async #room(length: number): Promise<Buffer> {
    if (length > smallReport) {
      const { ofPeer, end } = this.#places.begin(this.#peer);
      this.#held.push(end);
      await this.#hold(ofPeer);
      await this.#hold(this.#places.places);
      await this.#hold(this.#places.memory, length);
    }
    return Buffer.allocUnsafeSlow(length);
  }

  async #hold(budget: Budget, amount = 1): Promise<void> {
    const { signal } = this.#over;
    signal.throwIfAborted();
    const share = budget.ask(amount);
    signal.addEventListener('abort', () => share.giveUp(), { once: true });
    this.#held.push(() => share.release());
    if (!(await share.granted)) throw signal.reason;
  }

  /** The stream stays open for the answer. */
  async *#pieces(): AsyncGenerator<Buffer> {
    const { signal } = this.#over;
    try {
      yield* this.#stream.iterator({ destroyOnReturn: false });
    } catch (cause) {
      throw signal.aborted
        ? signal.reason
        : new ReportRefused('CANCELLED', 'the agent has given up', { cause });
    }
  }
}

const notOne = (): ReportRefused => new ReportRefused('INVALID_ARGUMENT', 'a call has exactly one report');

function lengthIn(head: Buffer): number {
  if (head[0] !== 0) throw new ReportRefused('UNIMPLEMENTED', 'reports are not compressed');
  const length = head.readUInt32BE(1);
  checkLength(length);
  return length;
}
