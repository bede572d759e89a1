import { type Charge, KeptRoom } from '../../../cluster/kube/kept-room.ts';
import { BoundedMap } from '../../../runtime/bounds/bounded-map.ts';
import type { NodeAgentState, NodeReports } from '../contract.ts';
import { type BucketSize, TokenBucket } from './node-tokens.ts';
import { type NodeReport, type ReportedAccessEvent, ReportRefused, reportedState } from './read-report.ts';

export interface NodeRegistryLimits {
  readonly nodes: number;
  /** Of all nodes together. */
  readonly pods: number;
  /** What is kept of their states. A node may take half of what the others leave free. */
  readonly bytes: number;
  /** Of one node. */
  readonly reports: BucketSize;
  /** In milliseconds: how long an agent may be silent before it counts as gone, and before it is forgotten. */
  readonly silentMs: number;
  readonly forgottenMs: number;
}

const MiB = 1_048_576;

/** 7 MiB in a container of 128 MiB, enough for 128 nodes of 110 pods, and with its memory more. */
export function bytesOfStates(memory: number): number {
  const known = memory === 0 ? Number.POSITIVE_INFINITY : memory;
  return Math.min(512 * MiB, Math.max(7 * MiB, Math.floor((known * 7) / 128)));
}

/** Agents report at least every 15 s and gather for 0.2 s: one report may be lost and repeated after its timeout. */
export const defaultLimits: NodeRegistryLimits = {
  nodes: 5_000,
  pods: 200_000,
  bytes: bytesOfStates(process.constrainedMemory()),
  reports: { burst: 20, perSecond: 8 },
  silentMs: 40_000,
  forgottenMs: 600_000,
};

export interface Taken extends Heard {
  /** Whether the agent must send the node's state, because it is unknown here. */
  readonly sendState: boolean;
}

interface Entry {
  readonly instances: Instances;
  readonly bucket: TokenBucket;
  /** The last instance that reported. */
  instance: string;
  heardAt: number;
  silent: boolean;
  state: NodeAgentState | undefined;
  charge: Charge | undefined;
}

export interface BookOptions {
  readonly limits: NodeRegistryLimits;
  /** In milliseconds, monotonic. */
  readonly now: () => number;
  /** Called when the state of a node has changed. */
  readonly onChange: (node: string) => void;
}

/** The agents' reports, while they are valid. */
export class NodeRegistry implements NodeReports {
  readonly #options: BookOptions;
  readonly #entries = new Map<string, Entry>();
  #room: KeptRoom;
  #pods = 0;

  constructor(options: BookOptions) {
    this.#options = options;
    this.#room = new KeptRoom(options.limits.bytes);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @throws ReportRefused RESOURCE_EXHAUSTED if there is no room, or the agent reports too often */
  take(report: NodeReport): Taken {
    const now = this.#options.now();
    const entry = this.#entries.get(report.node) ?? this.#enter(report, now);
    if (!entry.bucket.take(now))
      throw new ReportRefused('RESOURCE_EXHAUSTED', 'too many reports of this node');
    const state = report.state === null ? undefined : reportedState(report.node, report.state);
    this.#checkRoom(entry, state);
    const heard = entry.instances.hear(report);
    this.#update(entry, report, heard.newest, state, now);
    return { ...heard, sendState: entry.state === undefined };
  }

  /** Number of nodes whose agent has fallen silent and is not forgotten yet. */
  get silent(): number {
    return [...this.#entries.values()].filter((entry) => entry.silent).length;
  }

  agentOf(node: string): NodeAgentState | undefined {
    const entry = this.#entries.get(node);
    return entry && this.#believed(entry) ? entry.state : undefined;
  }

  *agents(): IterableIterator<NodeAgentState> {
    for (const entry of this.#entries.values()) {
      if (entry.state !== undefined && this.#believed(entry)) yield entry.state;
    }
  }

  /** Reports agents that have fallen silent, and later forgets them. Call periodically. */
  removeStale(): void {
    const { now, limits, onChange } = this.#options;
    for (const [node, entry] of this.#entries) {
      const silentMs = now() - entry.heardAt;
      if (silentMs > limits.forgottenMs) this.#forget(node, entry);
      if (entry.silent || silentMs <= limits.silentMs) continue;
      entry.silent = true;
      onChange(node);
    }
  }

  /** Forgets everything, because another replica receives the reports from now on. */
  clear(): void {
    this.#entries.clear();
    this.#room = new KeptRoom(this.#options.limits.bytes);
    this.#pods = 0;
  }

  #enter({ node, instance }: NodeReport, now: number): Entry {
    const { limits } = this.#options;
    if (this.#entries.size >= limits.nodes) {
      throw new ReportRefused('RESOURCE_EXHAUSTED', `the limit of ${limits.nodes} nodes is reached`);
    }
    const entry: Entry = {
      ...{ instances: new Instances(), bucket: new TokenBucket(limits.reports, now) },
      ...{ instance, heardAt: now, silent: false, state: undefined, charge: undefined },
    };
    this.#entries.set(node, entry);
    return entry;
  }

  #checkRoom(entry: Entry, state: NodeAgentState | undefined): void {
    if (state === undefined) return;
    const { pods } = this.#options.limits;
    if (this.#pods - podsOf(entry.state) + state.pods.size > pods) {
      throw new ReportRefused('RESOURCE_EXHAUSTED', `the limit of ${pods} pods is reached`);
    }
    if (this.#fits(entry, state)) return;
    const step = 'raise the memory limit of the operator';
    throw new ReportRefused('RESOURCE_EXHAUSTED', `no room for the states of more pods: ${step}`);
  }

  /** Whether a state fits in place of the node's former one, which is charged again. */
  #fits(entry: Entry, state: NodeAgentState): boolean {
    const before = entry.state;
    this.#release(entry);
    const charge = this.#room.take(state.node, state);
    if (charge !== undefined) this.#room.release(state.node, charge);
    if (before !== undefined) entry.charge = this.#room.take(before.node, before);
    return charge !== undefined;
  }

  #release(entry: Entry): void {
    if (entry.charge !== undefined && entry.state !== undefined)
      this.#room.release(entry.state.node, entry.charge);
    entry.charge = undefined;
  }

  /** Nothing is known about a new instance except what it reports. */
  #update(
    entry: Entry,
    { node, instance }: NodeReport,
    newest: boolean,
    state: NodeAgentState | undefined,
    now: number,
  ): void {
    const before = entry.silent ? undefined : entry.state;
    const other = entry.instance !== instance;
    Object.assign(entry, { instance, heardAt: now, silent: false });
    if (other || (newest && state !== undefined)) this.#setState(entry, state);
    if (entry.state !== before) this.#options.onChange(node);
  }

  #setState(entry: Entry, state: NodeAgentState | undefined): void {
    this.#pods += podsOf(state) - podsOf(entry.state);
    this.#release(entry);
    entry.state = state;
    if (state !== undefined) entry.charge = this.#room.take(state.node, state);
  }

  #forget(node: string, entry: Entry): void {
    this.#setState(entry, undefined);
    this.#entries.delete(node);
  }

  #believed({ heardAt }: Entry): boolean {
    return this.#options.now() - heardAt <= this.#options.limits.silentMs;
  }
}

const podsOf = (state: NodeAgentState | undefined): number => state?.pods.size ?? 0;

/** What an instance of an agent has reported. */
interface Instance {
  sequence: bigint;
  acceptedHit: number;
  droppedHits: number;
}

interface Heard {
  /** No newer report of this instance has arrived, so its state counts. */
  readonly newest: boolean;
  /** Access events that were not counted before. */
  readonly hits: readonly ReportedAccessEvent[];
  /** How many more the agent dropped. */
  readonly dropped: number;
  readonly acceptedHit: number;
}

/** A late report of the previous instance must not be counted again; older ones no longer arrive. */
const mostInstances = 4;

/** The last few starts of one node's agent. Reports may arrive more than once; their numbers reveal repeats. */
class Instances {
  readonly #known = new BoundedMap<string, Instance>(mostInstances);

  hear({ instance: id, sequence, hits, droppedHits }: NodeReport): Heard {
    const known = this.#known.get(id);
    // another replica may have counted what an instance dropped before its first report here
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
    this.#known.set(id, instance);
    return { newest, hits: fresh, dropped, acceptedHit: instance.acceptedHit };
  }
}
