import { readdirSync, readFileSync } from 'node:fs';

/** One line of the process table. */
export interface ProcessEntry {
  readonly pid: number;
  /** One letter, such as `R`, `S`, `T` (stopped), `Z` (ended, not reaped). */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The controlling terminal's device number, 0 without one. */
  readonly terminal: number;
}

/** Undefined for a process that is not there (any more), or without /proc. */
export function readProcess(pid: number | 'self'): ProcessEntry | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Every process that can be seen. */
export function allProcesses(): ProcessEntry[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => readProcess(Number(pid))).filter((entry) => entry !== undefined);
}

/** Parses /proc/PID/stat. */
export function parseStat(line: string): ProcessEntry {
  const [state = '', ...numbers] = statFields(line);
  const [parent = 0, group = 0, session = 0, terminal = 0] = numbers.slice(0, 4).map(Number);
  return { pid: Number.parseInt(line, 10), state, parent, group, session, terminal };
}

/** The fields of /proc/PID/stat from the state on: the program's name before it may hold anything. */
export function statFields(line: string): string[] {
  return line.slice(line.lastIndexOf(')') + 2).split(' ');
}

/**
 * The children of this process, of all its threads, ended ones included; undefined where /proc does not say,
 * or speaks of another process-id namespace.
 */
export function directChildren(): number[] | undefined {
  const self = readProcess('self');
  if (self?.pid !== process.pid) return undefined;
  return listedChildren() ?? scannedChildren();
}

/** From a file that kernels without CONFIG_PROC_CHILDREN lack. */
function listedChildren(): number[] | undefined {
  try {
    const threads = readdirSync('/proc/self/task');
    const lists = threads.map((thread) => readFileSync(`/proc/self/task/${thread}/children`, 'latin1'));
    return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  } catch {
    return undefined;
  }
}

function scannedChildren(): number[] {
  return allProcesses()
    .filter(({ parent }) => parent === process.pid)
    .map(({ pid }) => pid);
}
