import { constants } from 'node:os';
import type { ProgramSet } from '../../../../../src/plugins/agent/guard/program-set.ts';
import {
  encodeProcess,
  type ManageReply,
} from '../../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import { startOf } from '../../registration/support/fake-guard.ts';

export interface FakePrograms {
  readonly set: ProgramSet;
  /** `protect PID` and `inspect PID`, in order. */
  readonly asked: string[];
  /** Processes that have an entry in the table. */
  readonly isCovered: (pid: number) => boolean;
  /** Asked whenever something is asked of the programs. */
  onAsk: (request: string, pid: number) => void;
  /** Of the table. */
  room: number;
  /** Who has been opened before. */
  readonly opened: Set<number>;
  /** How often reads of descriptors from before were said to be checked. */
  lates: number;
}

const { ESRCH, E2BIG } = constants.errno;

/** A tier's programs, as the agent asks them: they know real processes by /proc, and keep nobody out. */
export function fakePrograms(): FakePrograms {
  const entries = new Set<string>();
  const entryOf = (pid: number) => encodeProcess({ pid, start: startOf(pid) ?? 0n }).toString('hex');
  const enter = (pid: number): number => {
    if (!entries.has(entryOf(pid)) && entries.size >= programs.room) return -E2BIG;
    entries.add(entryOf(pid));
    return 0;
  };
  let isFull = false;
  const ask = (request: string, pid: number): ManageReply => {
    programs.asked.push(`${request} ${pid}`);
    programs.onAsk(request, pid);
    // a table that is full is swept then, but for one of another PID namespace, as it were
    if (isFull && request === 'inspect' && pid === process.pid) {
      isFull = false;
      return nobody;
    }
    const start = startOf(pid);
    if (start === undefined) return nobody;
    const error = request === 'protect' ? enter(pid) : 0;
    isFull = error === -E2BIG;
    const [covered, opened] = [entries.has(entryOf(pid)), programs.opened.has(pid)];
    return { process: { pid, start }, cgroup: 1n, error, covered, opened, preemption: 0 };
  };
  const lookup = (key: Buffer) => (entries.has(key.toString('hex')) ? key : undefined);
  const attachLate = () => {
    programs.lates += 1;
  };
  const programs: FakePrograms = {
    set: { ask, attachLate, map: () => ({ lookup }) } as unknown as ProgramSet,
    ...{ asked: [], onAsk() {}, room: Number.POSITIVE_INFINITY, opened: new Set(), lates: 0 },
    isCovered: (pid) => entries.has(entryOf(pid)),
  };
  return programs;
}

const nobody: ManageReply = {
  ...{
    process: { pid: 0, start: 0n },
    cgroup: 0n,
    error: -ESRCH,
    covered: false,
    opened: false,
    preemption: 0,
  },
};
