import { sleep } from '../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../runtime/logging/logger.ts';
import { endJustInTimeCompilation, keepYoungGenerationSmall } from '../../runtime/memory.ts';
import type { SecretClient } from '../../runtime/vault/secret-client/contract.ts';
import { registerLater } from './agent/register.ts';
import { createRepeater, type Repeat, reportProtection } from './agent/report.ts';
import type { CrashWatch, Interruption } from './early-end.ts';
import { keep, Rotation } from './keep.ts';
import type { Delivered } from './name-secrets.ts';
import type { Observation } from './observation.ts';
import type { Obtained } from './obtain.ts';
import {
  type ApplicationEnvironment,
  type Prepared,
  prepareApplication,
  recordsIn,
  valueIn,
} from './prepare-application.ts';
import { Runner } from './runner.ts';
import { createSupervisor, type SupervisionEvent } from './supervise/index.ts';
import { TokenKeeper } from './token-keeper.ts';

const reportEveryMs = 300_000;

export interface SuperviseOptions {
  readonly client: SecretClient;
  readonly obtained: Obtained;
  /** False where the node agent, which was not required, was not there. */
  readonly registered: boolean;
  readonly around: ApplicationEnvironment;
  readonly digest: (delivered: readonly Delivered[]) => string;
  readonly interruption: Interruption;
  readonly crash: CrashWatch;
  readonly observation: Observation;
  readonly log: Logger;
}

/**
 * Starts the application and stays with it: an init that keeps token and secrets fresh. Resolves with the
 * application's exit code when it has ended. However it settles, nothing is left below this process.
 * @throws SvcError (126, 127) where it cannot be started, or not again
 */
export async function stay(options: SuperviseOptions): Promise<number> {
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
  const onStart = (prepared: Prepared, pid: number) => afterStart(prepared, pid, options, repeat);
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

/** The application runs: what of this fails is no reason to end it. */
function afterStart(
  prepared: Prepared,
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

/** An agent that comes later gets the registration, and at once what it would have been told. */
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

/** Does what the application can run without: a failure is logged and goes no further. */
function attempt(log: Logger, event: string, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    log.warn(event, { ...describeError(error) });
  }
}

/** One log line for what happens below the wrapper. */
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
