import { isatty } from 'node:tty';
import type { SecretClient } from '../../../keyserver/secret-client/contract.ts';
import type { AuthorityPlaces } from '../../../keyserver/settings.ts';
import { TokenKeeper } from '../../../keyserver/token-keeper.ts';
import type { LeanHealthServer } from '../../../runtime/health/lean-health-server.ts';
import type { LeanMetrics } from '../../../runtime/health/plain-metrics.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { unlockAll } from '../../../runtime/native/process-lock.ts';
import { recordSocketPair, sendRecord } from '../../../runtime/native/record-channel.ts';
import type { ShareableMemory } from '../../../runtime/native/secret-memory.ts';
import { measureOwnProtection } from '../agent/report.ts';
import type { Observation } from '../observation.ts';
import type { Obtained } from '../obtain.ts';
import { type ApplicationEnvironment, withoutNodeOptions } from '../prepare-application.ts';
import { becomeInit } from '../replace-process.ts';
import type { ResolvedWrapperSettings } from '../settings.ts';
import { sendParting, sendRegion, sendStart } from './leave.ts';
import { obstacleToLeaving } from './obstacles.ts';
import { programLoader } from './program-loader.ts';
import {
  findInit,
  monotonicMs,
  recordKind,
  settingFlags,
  type WorkerRole,
  withoutDebugger,
  workerArgument,
} from './records.ts';
import { writeToken } from './worker-state.ts';

export interface BecomeOptions {
  /** The wrapper's own arguments, for its workers. */
  readonly argv: readonly string[];
  /** Whether VAULT_TOKEN was set. */
  readonly tokenGiven: boolean;
  readonly around: ApplicationEnvironment;
  readonly memory: ShareableMemory;
  /** Aborted by a signal that ends the wrapper. */
  readonly signal: AbortSignal;
}

export interface HandOverOptions extends BecomeOptions {
  readonly client: SecretClient;
  /** Those that the client trusts, for workers. */
  readonly authorities: AuthorityPlaces;
  readonly obtained: Obtained;
  readonly registered: boolean;
  /** The key of the digests. */
  readonly key: Uint8Array;
  readonly observation: Observation;
  readonly metrics: LeanMetrics;
  readonly health: LeanHealthServer | undefined;
}

/** With a node agent, the first worker starts soon, to report on the application. */
const reportAfterMs = 1_000;
const workerMostMs = 120_000;

/** Whether one worker is to make the first pass and stay, instead of one for each renewal. */
export function workerStays(
  settings: ResolvedWrapperSettings,
  authorities: AuthorityPlaces,
  memory: ShareableMemory,
  log: Logger,
): boolean {
  if (settings.resident !== undefined) return settings.resident;
  const obstacle = obstacleToLeaving(memory, settings, authorities);
  if (obstacle !== undefined) log.info('resident', { reason: obstacle });
  return obstacle !== undefined;
}

/**
 * Becomes svc-init, which starts the application and a worker for each renewal; nothing of Node stays.
 * @throws SvcError INIT_MISSING (71), 126 or 127 for a program that cannot be run; the signal's reason
 */
export async function handOverToInit(options: HandOverOptions): Promise<never> {
  const { client, obtained, around, memory, observation, metrics, health } = options;
  const { settings } = around.config;
  const { prepared } = obtained;
  const [socket, theirs] = recordSocketPair();
  const link = { socket, memory };
  sendSettings(socket, settings, { resident: false, secretMemfd: prepared.region.kind === 'memfd_secret' });
  sendListener(socket, health);
  observation.secrets.set(obtained.count);
  // takes 6 ms, and only the agent asks for the result
  const { secretMemory } = settings.agentAddr === undefined ? {} : measureOwnProtection([prepared.region]);
  // a small lock limit leaves no room for secret memory otherwise, and this process is about to end
  if (!settings.requireMlock) unlockAll();
  const tokens = new TokenKeeper(client, obtained.lease, monotonicMs);
  const due = tokens.delayMs(settings.renewalInterval);
  await sendParting(link, {
    ...{ token: client.token() ?? Buffer.alloc(0), key: options.key, tokens, observation, metrics },
    memory: {
      ...{ inUse: obtained.digest, refused: undefined, failures: 0, registered: options.registered },
      authorities: options.authorities,
      secretMemory,
    },
    delayMs: settings.agentAddr === undefined ? due : Math.min(due, reportAfterMs),
  });
  client.close();
  sendStart(link, prepared);
  return become(options, theirs, { resident: false, tokenGiven: options.tokenGiven });
}

/**
 * Becomes svc-init before anything was requested: a worker makes the first pass and stays.
 * @param token the bytes of VAULT_TOKEN, unless they are not used
 * @throws SvcError INIT_MISSING (71), 126 or 127 for svc-init; the signal's reason
 */
export async function becomeResident(options: BecomeOptions, token: Uint8Array | undefined): Promise<never> {
  const { around, memory } = options;
  const [socket, theirs] = recordSocketPair();
  const region = token && writeToken(token, memory);
  const secretMemfd = region?.kind === 'memfd_secret';
  sendSettings(socket, around.config.settings, { resident: true, secretMemfd });
  if (region !== undefined) sendRegion(socket, recordKind.state, region);
  return become(options, theirs, { resident: true, tokenGiven: options.tokenGiven });
}

interface SentTraits {
  readonly resident: boolean;
  readonly secretMemfd: boolean;
}

/** To be sent first. */
export function sendSettings(socket: number, settings: ResolvedWrapperSettings, traits: SentTraits): void {
  const logText = (settings.logFormat ?? (isatty(2) ? 'text' : 'json')) === 'text';
  const values = [settings.stopGrace, workerMostMs + 2 * settings.stopGrace];
  sendRecord(socket, {
    kind: recordKind.settings,
    number: settingFlags(settings, { ...traits, logText }),
    values,
  });
}

/** From then on svc-init answers probes. */
export function sendListener(socket: number, health: LeanHealthServer | undefined): void {
  if (health?.descriptor === undefined) return;
  sendRecord(socket, { kind: recordKind.listener }, health.descriptor);
  health.stop();
}

async function become(
  { argv, around, memory, signal }: BecomeOptions,
  descriptor: number,
  role: WorkerRole,
): Promise<never> {
  const { settings } = around.config;
  const flags = process.execArgv.includes(withoutDebugger) ? [] : [withoutDebugger];
  const node = [process.execPath, ...process.execArgv, ...flags];
  const worker = [...node, process.argv[1] ?? '', workerArgument(role), ...argv];
  const agent = (settings.agentAddr ?? '').replace(/^\0/, '@'); // an argument cannot hold the NUL of an abstract name
  const launch = {
    file: findInit(),
    args: [String(descriptor), agent, settings.serviceAccountTokenPath, loader(role), ...worker],
    env: withoutNodeOptions(around.inherited),
    ...{ descriptor, memory },
  };
  return becomeInit(launch, signal);
}

/** A worker that stays may be started without: no application runs yet. */
function loader({ resident }: WorkerRole): string {
  try {
    return programLoader(process.execPath);
  } catch (error) {
    if (resident) return '';
    throw error;
  }
}
