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
 * The application's relation to the wrapper's terminal.
 * - `none`: there is no terminal; the application leads a group of its own.
 * - `owner`: the application leads a group of its own, which is in the foreground whenever the wrapper's job is.
 * - `shared`: the application stays in the wrapper's group, beside the other processes of a pipeline, which need the
 *   terminal too; signals from the keyboard reach all of them without the wrapper's help.
 */
export type TerminalMode = 'none' | 'owner' | 'shared';

export interface Job {
  readonly mode: TerminalMode;
  /** Descriptor of the terminal that a starting application is given at once. */
  readonly terminalAtStart: number | undefined;
  /** To be called when the application has started: its group has got the foreground. */
  began(pid: number): void;
  /**
   * Stops the wrapper along with the application if there is a terminal; returns once the wrapper is continued.
   * @param sentByUs whether the wrapper had forwarded a stop signal
   * @returns `continue` if the application would not have stopped without the wrapper
   */
  stopped(signal: string, sentByUs: boolean): 'continue' | undefined;
  /** Whether not to forward a signal, because the application got it already or it was meant for the wrapper. */
  withholds(signal: string): boolean;
  /** At SIGCONT: whether the signal ended a stop of the wrapper, so that the application must be continued too. */
  resumed(): boolean;
  /** Takes the terminal back. */
  ended(): void;
}

const stdin = 0;
const keyboardSignals = new Set(['SIGINT', 'SIGQUIT', 'SIGTSTP', 'SIGWINCH']);
const terminalStops = new Set(['SIGTSTP', 'SIGTTIN', 'SIGTTOU']);

/** @param signalGroup whether signals go to the application's whole group, which must then be its own */
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

/** False if the terminal hangs up or the group ends at that moment. */
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

/** Whether no process outside of the group could continue it: the kernel does not stop such a group. */
export function isOrphaned(group: number, table: readonly ProcessEntry[] = allProcesses()): boolean {
  const byPid = new Map(table.map((entry) => [entry.pid, entry]));
  return !table.some((entry) => {
    const parent = byPid.get(entry.parent);
    return entry.group === group && parent?.session === entry.session && parent.group !== group;
  });
}

/** Whether the process shares its group with processes other than its ancestors, as in a shell's pipeline. */
export function hasPartners(pid: number, table: readonly ProcessEntry[] = allProcesses()): boolean {
  const byPid = new Map(table.map((entry) => [entry.pid, entry]));
  const own = new Set<number>();
  for (let entry = byPid.get(pid); entry && !own.has(entry.pid); entry = byPid.get(entry.parent))
    own.add(entry.pid);
  const group = byPid.get(pid)?.group;
  return table.some((entry) => entry.group === group && !own.has(entry.pid));
}
