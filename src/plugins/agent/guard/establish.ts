import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exitStatus, SvcError } from '../../../core/errors.ts';
import type { Tier } from '../../../core/protection/tier.ts';
import { ensureBpfFileSystem } from '../../../runtime/bpf/file-system.ts';
import { watchingFromNow, watchingNever } from './boot-time.ts';
import type { CanaryMode } from './canary.ts';
import type { HitListener } from './contract.ts';
import type { Decoys } from './decoy.ts';
import { type HitPump, startHitPump } from './hit-pump.ts';
import { hasLate } from './late.ts';
import { ownLinkFolders } from './pins.ts';
import { type Preemption, preemptionAddress, preemptionOf } from './preemption.ts';
import { loadProgramSet, type ProgramSet } from './program-set.ts';
import type { Mode } from './status.ts';
import { protectDecoy, tryAll } from './trial.ts';

/** A tier that its canary has proven. */
export interface InForce {
  readonly set: ProgramSet;
  readonly pump: HitPump;
  readonly mode: CanaryMode;
  /** Whether its programs can be passed by on this kernel. */
  readonly preemption: Preemption;
  /** What this kernel does not give and the tier does without. */
  readonly lacking: string | undefined;
}

export interface EstablishOptions extends Mode {
  readonly folder: string;
  readonly generation: number;
  /** Bits of `leftAlone`: what is not guarded. */
  readonly left: number;
  readonly decoys: Decoys;
  readonly onHit: HitListener;
  /** For records in the ring that are no hits. */
  readonly onUnknown: () => void;
  /** Brings what an earlier set guarded into the new one, before it is attached. */
  readonly carryOver: (set: ProgramSet) => void;
}

/**
 * Loads, attaches and proves a tier beside whatever guards until now; where it cannot be proven, nothing of it stays.
 * @throws SvcError BPF_* or TIER_UNPROVEN
 */
export async function establish(tier: Tier, options: EstablishOptions): Promise<InForce> {
  ensureBpfFileSystem(dirname(options.folder));
  const address = await preemptionAddress();
  const set = loadProgramSet(tier, options.folder, {
    generation: options.generation,
    preemptionAddress: address,
  });
  const before = set.settings();
  try {
    const watchingSince = isWatched(options.folder) ? before.watchingSince : undefined;
    // what is covered before openings are watched may have been opened
    if (!watchingSince) set.change({ watchingSince: watchingNever });
    options.carryOver(set);
    const preemption = preemptionOf(set);
    const lacking = attach(set, watchingSince, preemption, options);
    return { ...(await prove(set, options)), preemption, lacking };
  } catch (error) {
    // whatever guards still goes by them
    set.change(before);
    set.remove();
    throw error;
  }
}

/** Whether programs of an earlier agent have seen every opening until now, as those of the tracepoints do not. */
function isWatched(folder: string): boolean {
  return ownLinkFolders(folder).some((links) => existsSync(join(links, 'file_open')));
}

/** @returns what is lacking */
function attach(
  set: ProgramSet,
  watchingSince: bigint | undefined,
  preemption: Preemption,
  options: EstablishOptions,
): string | undefined {
  const { enforce, kill, left, generation } = options;
  const agent = set.ask('inspect', process.pid).process;
  // with enforcement as it was until now, and where there was none, as it is to be
  if (watchingSince === undefined) set.change({ enforce, kill, left });
  const lacking = set.attach({ preemptible: preemption.possible, killing: enforce && kill });
  if (hasLate(set)) set.attachLate();
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
  const wrong = await tryAll(decoys, mode, set);
  if (wrong !== undefined) throw unproven(wrong);
  return { set, pump: startHitPump(set.map('hits'), onHit, options.onUnknown), mode };
}

function unproven(wrong: string): SvcError {
  return new SvcError('TIER_UNPROVEN', `It loads and does not work: ${wrong}`, {
    nextStep: 'Boot the kernel with bpf in lsm=, or leave it to the next tier.',
    exitStatus: exitStatus.system,
  });
}
