import type { SecretClient } from '../../../keyserver/secret-client/contract.ts';
import type { AuthorityPlaces } from '../../../keyserver/settings.ts';
import { TokenKeeper } from '../../../keyserver/token-keeper.ts';
import type { LeanHealthServer } from '../../../runtime/health/lean-health-server.ts';
import { sleep } from '../../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { endJustInTimeCompilation, keepYoungGenerationSmall } from '../../../runtime/memory.ts';
import { registerLater } from '../agent/register.ts';
import { createRepeater, type Repeat, reportProtection } from '../agent/report.ts';
import { keep, Rotation } from '../keep.ts';
import type { Delivered } from '../name-secrets.ts';
import type { Observation } from '../observation.ts';
import type { Obtained } from '../obtain.ts';
import {
  type ApplicationEnvironment,
  type PreparedApplication,
  prepareApplication,
  recordsIn,
  valueIn,
} from '../prepare-application.ts';
import { ResidentApplication } from './application.ts';
import { sendListener, sendSettings } from './hand-over.ts';
import { sendPages } from './leave.ts';
import type { WorkerLink } from './link.ts';
import { authoritiesAreOpen } from './obstacles.ts';
import { monotonicMs } from './records.ts';

const reportEveryMs = 300_000;
/** svc-init starts no other worker as long as this one runs. */
const neverMs = 0x7fff_ffff;

export interface ResidentRunOptions {
  readonly link: WorkerLink;
  readonly client: SecretClient;
  readonly authorities: AuthorityPlaces;
  readonly obtained: Obtained;
  /** False if no node agent responded and none was required. */
  readonly registered: boolean;
  readonly around: ApplicationEnvironment;
  readonly digest: (delivered: readonly Delivered[]) => string;
  readonly health: LeanHealthServer | undefined;
  /** Aborted by a signal that ends the wrapper before the application runs. */
  readonly signal: AbortSignal;
  readonly observation: Observation;
  readonly log: Logger;
}

/**
 * Makes svc-init start the application, then keeps token and secrets fresh for as long as svc-init lets this worker
 * live: it ends it with the application.
 * @throws SvcError (126, 127) for a program that cannot be found or run; the signal's reason
 */
export async function runResident(options: ResidentRunOptions): Promise<void> {
  const { link, client, authorities, obtained, around, observation, log, signal } = options;
  const { settings } = around.config;
  if (authoritiesAreOpen(link.memory, settings, authorities)) client.keepAuthorities();
  const secretMemfd = obtained.prepared.region.kind === 'memfd_secret';
  sendSettings(link.socket, settings, { resident: true, secretMemfd });
  sendListener(link.socket, options.health);
  observation.secrets.set(obtained.count);
  const tokens = new TokenKeeper(client, obtained.lease, monotonicMs);
  const show = () => sendPages(link, { tokens, observation, delayMs: neverMs, resident: true });
  const showLater = () => void show().catch((error) => log.warn('health.stale', { ...describeError(error) }));
  await show();
  const repeat = createRepeater(reportEveryMs);
  const application = new ResidentApplication(link, {
    keepsShared: settings.rotation === 'sighup',
    signal,
    onStart: (prepared, pid) => afterStart(prepared, pid, options, repeat),
  });
  await application.restart(obtained.prepared);
  showLater();
  const over = new AbortController().signal;
  if (!options.registered) void keepAsking(options, repeat, showLater, over);
  const rotation = new Rotation({
    ...{ client, settings, application, observation, log },
    prepare: (delivered) => prepareApplication(delivered, around),
    scrub: (values) => attempt(log, 'secrets.wipe.failed', () => client.scrub(values, application.regions)),
    ...{ digest: options.digest, inUse: obtained.digest },
  });
  const { renewalInterval } = settings;
  const rotates = settings.rotation === 'none' ? undefined : rotation;
  await keep({
    tokens,
    rotation: rotates,
    renewalInterval,
    observation,
    log,
    signal: over,
    onPass: showLater,
  });
}

/** The application already runs: failures here must not end it. */
function afterStart(
  prepared: PreparedApplication,
  pid: number,
  { link, client, around, observation, log }: ResidentRunOptions,
  repeat: Repeat,
): void {
  const { region } = prepared;
  const { settings } = around.config;
  keepYoungGenerationSmall();
  endJustInTimeCompilation();
  attempt(log, 'secrets.wipe.failed', () => client.scrub(recordsIn(region.bytes).map(valueIn), [region]));
  attempt(log, 'protection.unknown', () =>
    reportProtection(prepared, pid, { settings, observation, log, repeat, connection: link.connectAgent }),
  );
}

/** An agent that appears later gets the registration and then the report that it missed. */
async function keepAsking(
  { link, around: { config }, observation, log }: ResidentRunOptions,
  repeat: Repeat,
  show: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { settings } = config;
  let registered = false;
  while (!registered) {
    await sleep(settings.renewalInterval, signal);
    registered = await registerLater(settings, observation, log, signal, link.connectAgent);
    show();
  }
  repeat();
}

/** Runs work that the application does not depend on: a failure is logged and not passed on. */
function attempt(log: Logger, event: string, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    log.warn(event, { ...describeError(error) });
  }
}
