import { readFileSync } from 'node:fs';
import { type BpfObject, openObject } from '../../src/plugins/agent/bpf/object.ts';
import type { BpfLink } from '../../src/plugins/agent/bpf/program.ts';
import type { CostPlan, KernelTier, State } from './plan.ts';

/** States of the machine between which it is switched within milliseconds. */
export interface States {
  readonly names: readonly State[];
  /** Of the agent, with the maps that were pinned. */
  readonly object: BpfObject;
  enter(state: State): void;
  close(): void;
}

const notAttached = 'manage';
const late = 'file_permission';
const preempted = 'call_not_denied';
const killing = 'memory_locking';

/** @param pinFolder where the running agent has its maps */
export function loadStates({ tier, object, floor }: CostPlan, pinFolder: string): States {
  // programs of a generation that is not the settings' enforce and report nothing
  const guard = load(object, { pinFolder, constants: { generation: 0 } });
  const nothing = load(floor, {});
  const attach = attaching(tier, guard, nothing);
  let links: BpfLink[] = [];
  const leave = () => {
    for (const link of links) link.destroy();
    links = [];
  };
  return {
    names: Object.keys(attach) as State[],
    object: guard,
    enter(state) {
      leave();
      links = attach[state]?.() ?? [];
    },
    close() {
      leave();
      guard.close();
      nothing.close();
    },
  };
}

function load(path: string, more: { pinFolder?: string; constants?: { generation: number } }): BpfObject {
  const object = openObject(readFileSync(path), { name: 'svc_bench', ...more });
  object.load();
  return object;
}

function attaching(
  tier: KernelTier,
  guard: BpfObject,
  nothing: BpfObject,
): Partial<Record<State, () => BpfLink[]>> {
  const all = (object: BpfObject, ...but: string[]) =>
    object
      .programs()
      .filter(({ name }) => !but.includes(name))
      .map((program) => program.attach());
  const states = { off: () => [], on: () => all(guard, notAttached, late, preempted, killing) };
  if (tier === 3) return { ...states, killing: () => all(guard, notAttached), floor: () => all(nothing) };
  return {
    ...states,
    late: () => all(guard, notAttached, preempted),
    preempted: () => all(guard, notAttached, late),
    floor: () => all(nothing, late),
    'late-floor': () => all(nothing),
  };
}
