import { NativeError } from '../../../runtime/native/native-error.ts';
import { cannotExecute, findProgram } from '../../../runtime/native/program.ts';
import { ignoreRealTimeSignals } from '../../../runtime/native/signals.ts';
import { spawn } from '../../../runtime/native/spawn.ts';
import type { Change } from '../../../runtime/native/wait.ts';
import { type Application, createApplication, type Supervised } from './application.ts';
import { createChildren } from './children.ts';
import { endDescendants } from './descendants.ts';
import { endingOf } from './ending.ts';
import type { OnEvent } from './events.ts';
import { createJob, type Job } from './job.ts';
import { inherited, type Launch, withStrings } from './launch.ts';
import type { SignalPost } from './signal-post.ts';

export interface SupervisorOptions {
  readonly signals: SignalPost;
  /** Forwarded signals go to the application's process group (SVC_SIGNAL_GROUP). */
  readonly signalGroup: boolean;
  /** From a forwarded SIGTERM to SIGKILL (SVC_STOP_GRACE). */
  readonly stopGraceMs: number;
  readonly onEvent?: OnEvent;
}

/** A small init: one application at a time, and whatever it leaves behind. */
export interface Supervisor {
  /**
   * Starts the application; forwarded signals reach it from then on until it has ended.
   * @throws SvcError exit 127 (not found), 126 (cannot be run), 78 (a NUL in argument or variable)
   */
  start(launch: Launch): Application;
  /** Ends and reaps everything below this process, daemons included; may be followed by another start. */
  end(graceMs: number): Promise<void>;
}

/** The process should be PID 1 or a sub-reaper, else orphans escape it. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { signals, signalGroup, stopGraceMs, onEvent = () => {} } = options;
  let current: Supervised | undefined;

  const onChange = (change: Change) => {
    const ending = endingOf(change);
    if (change.pid !== current?.pid) {
      if (ending) onEvent({ kind: 'reaped', pid: ending.pid, exitCode: ending.exitCode });
      return;
    }
    if (ending) signals.deliverTo(undefined);
    current.changed(change);
    if (ending) current = undefined;
  };
  const children = createChildren(onChange);
  ignoreRealTimeSignals(); // they cannot be forwarded, and would leave the application without its wrapper

  /** Watches before the start, because an application may end at once; no longer when it fails. */
  const watched = (start: () => number) => {
    children.watch();
    try {
      return start();
    } catch (error) {
      children.unwatch();
      throw error;
    }
  };

  return {
    start(launch) {
      const job = createJob(signalGroup);
      const pid = watched(() => run(launch, job));
      job.began(pid);
      const refresh = children.check;
      const application = createApplication({ pid, job, signalGroup, stopGraceMs, refresh, onEvent });
      current = application;
      signals.deliverTo(application.receive);
      return application;
    },
    async end(graceMs) {
      await endDescendants(children, graceMs, onEvent);
      children.unwatch();
    },
  };
}

function run(launch: Launch, job: Job): number {
  const file = findProgram(launch.file);
  try {
    return withStrings(launch, (strings) =>
      spawn({
        file,
        ...strings,
        inherit: inherited(launch),
        terminal: job.terminalAtStart,
        ownGroup: job.mode !== 'shared',
      }),
    );
  } catch (error) {
    throw error instanceof NativeError && error.call === 'posix_spawn'
      ? cannotExecute(launch.file, error)
      : error;
  }
}
