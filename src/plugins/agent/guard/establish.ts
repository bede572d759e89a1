import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exitStatus, messageOf, SvcError } from '../../../runtime/errors.ts';
import { type AccessEvent, decodeAccessEvent } from '../../../runtime/protocols/protection/bpf-layouts.ts';
import type { Tier } from '../../../runtime/protocols/protection/report.ts';
import { ensureBpfFileSystem } from '../bpf/libbpf.ts';
import type { BpfMap } from '../bpf/map.ts';
import { openRingBuffer } from '../bpf/ring-buffer.ts';
import type { AccessEventListener, Mode, PassedOver, Times } from './contract.ts';
import { hasPreOpened, watchingFromNow, watchingNever } from './map-readings.ts';
import { type Preemption, preemptionAddress, preemptionOf } from './preemption.ts';
import { loadProgramSet, ownLinkFolders, type ProgramSet } from './program-set.ts';
import { type CanaryMode, type Decoys, protectDecoy, tryAll, tryPatiently } from './trial.ts';

/** A tier proven by its canary. */
export interface InForce {
  readonly set: ProgramSet;
  readonly pump: EventReader;
  readonly mode: CanaryMode;
  /** Whether calls can bypass its programs on this kernel. */
  readonly preemption: Preemption;
  /** What the kernel does not provide and the tier works without. */
  readonly lacking: string | undefined;
}

interface EstablishOptions extends Mode {
  readonly folder: string;
  readonly generation: number;
  /** Bits of `leftAlone`: what not to guard. */
  readonly left: number;
  readonly decoys: Decoys;
  readonly onHit: AccessEventListener;
  /** Called for records in the ring that are not access events. */
  readonly onUnknown: () => void;
  /** Copies what an earlier set guarded into the new one, before that one is attached. */
  readonly carryOver: (set: ProgramSet) => void;
}

/**
 * Loads, attaches and proves a tier beside the one in force. If it cannot be proven, nothing of it stays.
 * @throws SvcError BPF_* or TIER_UNPROVEN
 */
async function establish(tier: Tier, options: EstablishOptions): Promise<InForce> {
  ensureBpfFileSystem(dirname(options.folder));
  const address = await preemptionAddress();
  const set = loadProgramSet(tier, options.folder, {
    generation: options.generation,
    preemptionAddress: address,
  });
  const before = set.settings();
  try {
    const watchingSince = isWatched(options.folder) ? before.watchingSince : undefined;
    // processes covered before opens are watched may have been opened
    if (!watchingSince) set.change({ watchingSince: watchingNever });
    options.carryOver(set);
    const preemption = preemptionOf(set);
    const lacking = attach(set, watchingSince, preemption, options);
    return { ...(await prove(set, options)), preemption, lacking };
  } catch (error) {
    // the set still in force shares these settings
    set.change(before);
    set.remove();
    throw error;
  }
}

/** Whether an earlier agent's programs have seen every open so far; those on tracepoints do not. */
function isWatched(folder: string): boolean {
  return ownLinkFolders(folder).some((links) => existsSync(join(links, 'file_open')));
}

/** @returns what the kernel does not provide */
function attach(
  set: ProgramSet,
  watchingSince: bigint | undefined,
  preemption: Preemption,
  options: EstablishOptions,
): string | undefined {
  const { enforce, kill, left, generation } = options;
  const agent = set.ask('inspect', process.pid).process;
  // attaches with enforcement as it was so far or, if there was none, as configured
  if (watchingSince === undefined) set.change({ enforce, kill, left });
  const lacking = set.attach({ preemptible: preemption.possible, killing: enforce && kill });
  if (hasPreOpened(set)) set.attachLate();
  set.change({ enforce, kill, left, agent, generation, watchingSince: watchingSince || watchingFromNow() });
  return lacking;
}

async function prove(
  set: ProgramSet,
  options: EstablishOptions,
): Promise<Pick<InForce, 'set' | 'pump' | 'mode'>> {
  const { decoys, enforce, kill, onHit } = options;
  const mode = { denies: set.tier < 3, enforce, kill };
  protectDecoy(set, await decoys.living());
  const wrong = await tryPatiently(() => tryAll(decoys, mode, set));
  if (wrong !== undefined) throw unproven(wrong);
  return { set, pump: startEventReader(set.map('hits'), onHit, options.onUnknown), mode };
}

function unproven(wrong: string): SvcError {
  return new SvcError('TIER_UNPROVEN', `It loads but does not work: ${wrong}`, {
    nextStep: 'Boot the kernel with bpf in lsm=, or leave it to the next tier.',
    exitStatus: exitStatus.system,
  });
}

/** Carries access events from the kernel's ring to the agent, 20 times a second. */
interface EventReader {
  close(): void;
}

const intervalMs = 50;
/** Records read in one turn of the event loop; the ring holds some forty thousand. */
const mostAtOnce = 8192;

/** @param onUnknown called for a record that is not an access event, written by another version's programs */
function startEventReader(map: BpfMap, onHit: AccessEventListener, onUnknown: () => void): EventReader {
  const ring = openRingBuffer(map);
  const equal = new EqualRecords();
  const add = (record: Uint8Array) => equal.add(record);
  const tell = (record: Buffer, times: Times) => {
    const hit = decoded(record);
    if (hit === undefined) onUnknown();
    else onHit(hit, times);
  };
  const drain = () => {
    ring.drain(mostAtOnce, add);
    equal.handOver(tell);
  };
  const timer = setInterval(drain, intervalMs);
  return {
    close() {
      clearInterval(timer);
      drain();
      ring.close();
    },
  };
}

function decoded(record: Buffer): AccessEvent | undefined {
  try {
    return decodeAccessEvent(record);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** `struct svc_hit` of bpf/svc.h begins with the time; the rest distinguishes attempts. */
const timeLength = 8;

interface Merged {
  readonly record: Buffer;
  count: number;
  last: bigint;
}

/** Merges records of one turn that are equal except for their time: decoding and reporting each costs far more. */
export class EqualRecords {
  readonly #merged = new Map<string, Merged>();

  /** @param record is copied, because its memory is reused after this returns */
  add(record: Uint8Array): void {
    const view = Buffer.from(record.buffer, record.byteOffset, record.length);
    const key = view.toString('latin1', timeLength);
    const known = this.#merged.get(key);
    if (known === undefined) {
      this.#merged.set(key, { record: Buffer.from(view), count: 1, last: timeOf(view) });
      return;
    }
    known.count += 1;
    known.last = timeOf(view);
  }

  /** Passes on the merged records in the order of their first occurrence, and forgets them. */
  handOver(take: (record: Buffer, times: Times) => void): void {
    const merged = [...this.#merged.values()];
    this.#merged.clear();
    for (const { record, count, last } of merged) take(record, { count, last });
  }
}

/** 0 for a record that is too short. */
const timeOf = (record: Buffer) => (record.length < timeLength ? 0n : record.readBigUInt64LE());

export interface Choice {
  /** Undefined if no tier works. */
  readonly inForce: InForce | undefined;
  /** Includes the tier in force if it lacks something. */
  readonly passedOver: PassedOver;
}

/** Establishes the first tier that its canary proves. */
export async function chooseTier(tiers: readonly Tier[], options: EstablishOptions): Promise<Choice> {
  const passedOver: { tier: Tier; reason: string }[] = [];
  for (const tier of tiers) {
    try {
      const inForce = await establish(tier, options);
      if (inForce.lacking !== undefined) passedOver.push({ tier, reason: inForce.lacking });
      return { inForce, passedOver };
    } catch (error) {
      passedOver.push({ tier, reason: messageOf(error) });
    }
  }
  return { inForce: undefined, passedOver };
}
