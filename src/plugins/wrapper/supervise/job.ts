import { NativeError } from '../../../runtime/native/libc.ts';
import {
  allProcesses,
  foregroundGroup,
  type ProcessEntry,
  processGroup,
  readProcess,
  sendSignal,
  setForegroundGroup,
  signalNumber,
  withDefaultAction,
} from '../../../runtime/native/processes.ts';

/**
 * How the application stands to the wrapper's terminal.
 * - `none`: there is no terminal; the application leads a group of its own.
 * - `owner`: it leads a group of its own, which is in the foreground whenever the wrapper's job is.
 * - `shared`: it stays in the wrapper's group, beside the other processes of a pipeline, which need the terminal too;
 *   what the keyboard sends reaches all of them without the wrapper's help.
 */
export type TerminalMode = 'none' | 'owner' | 'shared';

export interface Job {
  readonly mode: TerminalMode;
  /** The terminal that a starting application is given at once. */
  readonly terminalAtStart: number | undefined;
  /** The application's group is in the foreground from now on. */
  began(pid: number): void;
  /**
   * Follows the application into its stop, where there is a terminal; returns once the wrapper was continued.
   * @param sentByUs whether the wrapper had forwarded a stop signal
   * @returns `continue` where without the wrapper the application would not have been stopped at all
   */
  stopped(signal: string, sentByUs: boolean): 'continue' | undefined;
  /** Whether a signal is not to be forwarded, because the application has it already or it was for the wrapper. */
  withholds(signal: string): boolean;
  /** At SIGCONT: whether it ends a stop of the wrapper, and the application is to be continued with it. */
  resumed(): boolean;
  /** Gets the terminal back. */
  ended(): void;
}

const stdin = 0;
const keyboardSignals = new Set(['SIGINT', 'SIGQUIT', 'SIGTSTP', 'SIGWINCH']);
const terminalStops = new Set(['SIGTSTP', 'SIGTTIN', 'SIGTTOU']);

/** @param signalGroup whether signals are sent to the application's whole group, which must be its own then */
export function createJob(signalGroup: boolean): Job {
  const ownGroup = processGroup();
  const mode = terminalMode(signalGroup);
  let application = 0;
  let given = false;
  let suspended = false;

  const isForeground = () => mode === 'owner' && foregroundGroup(stdin) === ownGroup;
  const give = () => {
    given = isForeground() && moved(application);
    return given;
  };
  const takeBack = () => {
    if (given && foregroundGroup(stdin) !== undefined) moved(ownGroup);
    given = false;
  };
  const suspend = (signal: string) => {
    suspended = true;
    const target = mode === 'owner' && terminalStops.has(signal) ? 0 : process.pid;
    const number = signalNumber(signal);
    withDefaultAction(number, () => sendSignal(target, number));
  };

  return {
    mode,
    terminalAtStart: isForeground() ? stdin : undefined,
    began(pid) {
      application = pid;
      given = this.terminalAtStart !== undefined;
    },
    stopped(signal, sentByUs) {
      if (mode === 'none') return undefined;
      const needsTerminal = signal === 'SIGTTIN' || signal === 'SIGTTOU';
      if (needsTerminal && give()) return 'continue';
      if (process.pid === 1 || isOrphaned(ownGroup)) {
        return signal === 'SIGTSTP' && !sentByUs ? 'continue' : undefined;
      }
      takeBack();
      suspend(signal);
      return undefined;
    },
    withholds(signal) {
      if (mode === 'shared') return keyboardSignals.has(signal);
      return signal === 'SIGCONT' && mode === 'owner' && given && foregroundGroup(stdin) === undefined;
    },
    resumed() {
      if (!suspended) return false;
      suspended = false;
      give();
      return true;
    },
    ended: takeBack,
  };
}

/** False where the terminal has hung up, or the group has ended, in that very moment. */
function moved(group: number): boolean {
  try {
    setForegroundGroup(stdin, group);
    return true;
  } catch (error) {
    if (error instanceof NativeError) return false;
    throw error;
  }
}

export function terminalMode(signalGroup: boolean): TerminalMode {
  if ((readProcess('self')?.terminal ?? 0) === 0) return 'none';
  if (foregroundGroup(stdin) !== undefined && !hasPartners(process.pid)) return 'owner';
  return signalGroup ? 'none' : 'shared';
}

/** Whether nobody outside of the process group could continue it: the kernel does not stop such a group then. */
export function isOrphaned(group: number, table: readonly ProcessEntry[] = allProcesses()): boolean {
  const byPid = new Map(table.map((entry) => [entry.pid, entry]));
  return !table.some((entry) => {
    const parent = byPid.get(entry.parent);
    return entry.group === group && parent?.session === entry.session && parent.group !== group;
  });
}

/** Whether the process shares its group with others than those that wait for it, as in a shell's pipeline. */
export function hasPartners(pid: number, table: readonly ProcessEntry[] = allProcesses()): boolean {
  const byPid = new Map(table.map((entry) => [entry.pid, entry]));
  const own = new Set<number>();
  for (let entry = byPid.get(pid); entry && !own.has(entry.pid); entry = byPid.get(entry.parent))
    own.add(entry.pid);
  const group = byPid.get(pid)?.group;
  return table.some((entry) => entry.group === group && !own.has(entry.pid));
}
