import type { SecretClient } from '../../keyserver/secret-client/contract.ts';
import { TokenKeeper } from '../../keyserver/token-keeper.ts';
import { exitStatus } from '../../runtime/errors.ts';
import { sleep } from '../../runtime/lifecycle/wait.ts';
import { describeError, type Logger, stackOf } from '../../runtime/logging/logger.ts';
import { endJustInTimeCompilation, keepYoungGenerationSmall } from '../../runtime/memory.ts';
import { exitAtOnce } from '../../runtime/native/own-process.ts';
import { signalNumber } from '../../runtime/native/processes.ts';
import { registerLater } from './agent/register.ts';
import { createRepeater, type Repeat, reportProtection } from './agent/report.ts';
import { keep, Rotation } from './keep.ts';
import type { Delivered } from './name-secrets.ts';
import type { Observation } from './observation.ts';
import type { Obtained } from './obtain.ts';
import {
  type ApplicationEnvironment,
  type PreparedApplication,
  prepareApplication,
  recordsIn,
  valueIn,
} from './prepare-application.ts';
import { Runner } from './runner.ts';
import {
  catchSignals,
  createSupervisor,
  killChildren,
  type SignalPost,
  type SupervisionEvent,
} from './supervise/index.ts';

const reportEveryMs = 300_000;

export interface SuperviseOptions {
  readonly client: SecretClient;
  readonly obtained: Obtained;
  /** False if no node agent responded and none was required. */
  readonly registered: boolean;
  readonly around: ApplicationEnvironment;
  readonly digest: (delivered: readonly Delivered[]) => string;
  readonly interruption: Interruption;
  readonly crash: CrashWatch;
  readonly observation: Observation;
  readonly log: Logger;
}

/**
 * Starts the application and supervises it, while token and secrets are kept fresh. Resolves with the application's
 * exit code. However it settles, no process is left below this one.
 * @throws SvcError (126, 127) if the application cannot be started or restarted
 */
export async function superviseApplication(options: SuperviseOptions): Promise<number> {
  const { obtained, around, interruption, crash, observation, log } = options;
  const { settings } = around.config;
  const over = new AbortController();
  const supervisor = createSupervisor({
    signals: interruption.signals,
    signalGroup: settings.signalGroup,
    stopGraceMs: settings.stopGrace,
    onEvent: (event) => logSupervision(event, log),
  });
  const end = async () => {
    over.abort();
    await supervisor.end(settings.stopGrace);
  };
  const interrupted = AbortSignal.any([interruption.signal, over.signal]);
  const repeat = createRepeater(reportEveryMs);
  const onStart = (prepared: PreparedApplication, pid: number) => afterStart(prepared, pid, options, repeat);
  const runner = new Runner({ supervisor, settings, observation, log, interrupted, onStart });
  crash.endBy(end);
  try {
    runner.start(obtained.prepared);
    observation.secrets.set(obtained.count);
    void keepFresh(options, runner, over.signal);
    if (!options.registered) void keepAsking(options, repeat, over.signal);
    const { exitCode } = await runner.ended;
    return exitCode;
  } finally {
    await end();
    runner.close();
    crash.endBy(undefined);
  }
}

/** The application already runs: failures here must not end it. */
function afterStart(
  prepared: PreparedApplication,
  pid: number,
  { client, around, observation, log }: SuperviseOptions,
  repeat: Repeat,
): void {
  const { region } = prepared;
  const { settings } = around.config;
  keepYoungGenerationSmall();
  endJustInTimeCompilation();
  attempt(log, 'secrets.wipe.failed', () => client.scrub(recordsIn(region.bytes).map(valueIn), [region]));
  attempt(log, 'protection.unknown', () =>
    reportProtection(prepared, pid, { settings, observation, log, repeat }),
  );
}

/** An agent that appears later gets the registration and then the report that it missed. */
async function keepAsking(
  { around: { config }, observation, log }: SuperviseOptions,
  repeat: Repeat,
  signal: AbortSignal,
): Promise<void> {
  const { settings } = config;
  do {
    const over = await sleep(settings.renewalInterval, signal).then(
      () => false,
      () => true,
    );
    if (over) return;
  } while (!(await registerLater(settings, observation, log, signal)));
  repeat();
}

async function keepFresh(
  { client, obtained, around, digest, observation, log }: SuperviseOptions,
  runner: Runner,
  signal: AbortSignal,
): Promise<void> {
  const { settings } = around.config;
  const rotation = new Rotation({
    client,
    settings,
    runner,
    prepare: (delivered) => prepareApplication(delivered, around),
    scrub: (values) => attempt(log, 'secrets.wipe.failed', () => client.scrub(values, runner.regions)),
    digest,
    inUse: obtained.digest,
    observation,
    log,
  });
  const tokens = new TokenKeeper(client, obtained.lease);
  observation.watchToken(() => tokens.secondsLeft());
  const { renewalInterval } = settings;
  const rotates = settings.rotation === 'none' ? undefined : rotation;
  await keep({ tokens, rotation: rotates, renewalInterval, observation, log, signal });
}

/** Runs work that the application does not depend on: a failure is logged and not passed on. */
function attempt(log: Logger, event: string, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    log.warn(event, { ...describeError(error) });
  }
}

/** Logs one line for each event of a process below the wrapper. */
function logSupervision(event: SupervisionEvent, log: Logger): void {
  switch (event.kind) {
    case 'reaped':
      return log.debug('orphan.reaped', { pid: event.pid, exit_code: event.exitCode });
    case 'stopped':
      return log.info('application.stopped', { pid: event.pid, signal: event.signal });
    case 'continued':
      return log.info('application.continued', { pid: event.pid });
    case 'killed':
      return log.warn('application.killed', { pid: event.pid, grace_ms: event.graceMs });
    case 'undeliverable': {
      const { pid, signal, reason } = event;
      return log.warn('signal.undeliverable', { pid, signal, reason });
    }
    case 'left':
      return log.warn('orphans.left', { pids: event.pids.map(String) });
  }
}

/** Ensures that an unhandled exception does not leave the application running without its wrapper. */
export interface CrashWatch {
  /** Sets how to stop the application gracefully; undefined while none runs. */
  endBy(end: (() => Promise<unknown>) | undefined): void;
  /** The status to exit with: 70 after a crash, however the application ended. */
  status(status: number): number;
}

/**
 * After an unhandled exception the wrapper's state is undefined: it logs `crashed`, stops the application as at
 * SIGTERM, and exits with 70. A second exception meanwhile kills what is left.
 */
export function watchCrash(log: () => Logger): CrashWatch {
  let end: (() => Promise<unknown>) | undefined;
  let crashed = false;
  process.on('uncaughtException', (error, origin) => {
    log().error('crashed', { origin, ...describeError(error), stack: stackOf(error) });
    if (end === undefined) return exitAtOnce(exitStatus.internal);
    if (crashed) return killAndExit();
    crashed = true;
    void end().then(killAndExit, killAndExit);
  });
  return {
    endBy(next) {
      end = next;
    },
    status: (status) => (crashed ? exitStatus.internal : status),
  };
}

function killAndExit(): never {
  killChildren();
  return exitAtOnce(exitStatus.internal);
}

/** A signal that ends the wrapper while no application runs. */
export interface Interruption {
  readonly signals: SignalPost;
  /** Aborted by an interrupting signal. */
  readonly signal: AbortSignal;
  /** 128 + the signal's number; undefined without an interruption. */
  readonly status: number | undefined;
}

const signalBase = 128;

export function watchInterruption(): Interruption {
  const controller = new AbortController();
  let status: number | undefined;
  const signals = catchSignals((name) => {
    status ??= signalBase + signalNumber(name);
    controller.abort();
  });
  return {
    signals,
    signal: controller.signal,
    get status() {
      return status;
    },
  };
}
