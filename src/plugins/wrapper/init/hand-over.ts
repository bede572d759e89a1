import { isatty } from 'node:tty';
import type { SecretClient } from '../../../keyserver/secret-client/contract.ts';
import type { AuthorityPlaces } from '../../../keyserver/settings.ts';
import { TokenKeeper } from '../../../keyserver/token-keeper.ts';
import type { LeanHealthServer } from '../../../runtime/health/lean-health-server.ts';
import type { LeanMetrics } from '../../../runtime/health/plain-metrics.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { unlockAll } from '../../../runtime/native/process-lock.ts';
import { readProcess } from '../../../runtime/native/processes.ts';
import { recordSocketPair, sendRecord } from '../../../runtime/native/record-channel.ts';
import type { ShareableMemory } from '../../../runtime/native/secret-memory.ts';
import { measureOwnProtection } from '../agent/report.ts';
import type { Observation } from '../observation.ts';
import type { Obtained } from '../obtain.ts';
import { type ApplicationEnvironment, withoutNodeOptions } from '../prepare-application.ts';
import type { ResolvedWrapperSettings } from '../settings.ts';
import { becomeInit } from '../supervise/index.ts';
import { sendParting, sendStart } from './leave.ts';
import { obstacleToLeaving } from './obstacles.ts';
import { programLoader } from './program-loader.ts';
import { findInit, monotonicMs, recordKind, settingFlags, withoutDebugger, workerFlag } from './records.ts';

export interface HandOverOptions {
  /** The wrapper's own arguments, for its workers. */
  readonly argv: readonly string[];
  /** Whether VAULT_TOKEN was set. */
  readonly tokenGiven: boolean;
  readonly client: SecretClient;
  /** Those that the client trusts, for workers. */
  readonly authorities: AuthorityPlaces;
  readonly obtained: Obtained;
  readonly registered: boolean;
  readonly around: ApplicationEnvironment;
  readonly memory: ShareableMemory;
  /** The key of the digests. */
  readonly key: Uint8Array;
  readonly observation: Observation;
  readonly metrics: LeanMetrics;
  readonly health: LeanHealthServer | undefined;
  /** Aborted by a signal that ends the wrapper. */
  readonly signal: AbortSignal;
}

/** With a node agent, the first worker starts soon, to report on the application. */
const reportAfterMs = 1_000;
const workerMostMs = 120_000;

export const hasTerminal = (): boolean => (readProcess('self')?.terminal ?? 0) !== 0;

/**
 * Whether svc-init takes over. Only the resident wrapper has job control, and svc-init's small size does not matter
 * at a terminal.
 */
export function leavesNode(
  settings: ResolvedWrapperSettings,
  authorities: AuthorityPlaces,
  memory: ShareableMemory,
  log: Logger,
): boolean {
  const { resident, exec } = settings;
  if (exec || resident === true || hasTerminal()) return false;
  const obstacle = resident === false ? undefined : obstacleToLeaving(memory, settings, authorities);
  if (obstacle !== undefined) log.info('resident', { reason: obstacle });
  return obstacle === undefined;
}

/**
 * Becomes svc-init, which starts the application and a worker for each renewal; nothing of Node stays.
 * @throws SvcError INIT_MISSING (71), 126 or 127 for a program that cannot be run; the signal's reason
 */
export async function handOverToInit(options: HandOverOptions): Promise<never> {
  const { client, obtained, around, memory, observation, metrics, health, signal } = options;
  const { settings } = around.config;
  const { prepared } = obtained;
  const init = findInit();
  const [socket, theirs] = recordSocketPair();
  const logText = (settings.logFormat ?? (isatty(2) ? 'text' : 'json')) === 'text';
  const flags = settingFlags(settings, { logText, secretMemfd: prepared.region.kind === 'memfd_secret' });
  const limits = [settings.stopGrace, workerMostMs + 2 * settings.stopGrace];
  sendRecord(socket, { kind: recordKind.settings, number: flags, values: limits });
  if (health?.descriptor !== undefined) {
    sendRecord(socket, { kind: recordKind.listener }, health.descriptor);
    health.stop();
  }
  observation.secrets.set(obtained.count);
  // takes 6 ms, and only the agent asks for the result
  const { secretMemory } = settings.agentAddr === undefined ? {} : measureOwnProtection([prepared.region]);
  // a small lock limit leaves no room for secret memory otherwise, and this process is about to end
  if (!settings.requireMlock) unlockAll();
  const tokens = new TokenKeeper(client, obtained.lease, monotonicMs);
  const due = tokens.delayMs(settings.renewalInterval);
  await sendParting(
    { socket, memory },
    {
      ...{ token: client.token() ?? Buffer.alloc(0), key: options.key, tokens, observation, metrics },
      memory: {
        ...{ inUse: obtained.digest, refused: undefined, failures: 0, registered: options.registered },
        authorities: options.authorities,
        secretMemory,
      },
      delayMs: settings.agentAddr === undefined ? due : Math.min(due, reportAfterMs),
    },
  );
  client.close();
  sendStart({ socket, memory }, prepared);
  const flag = options.tokenGiven ? `${workerFlag}=token` : workerFlag;
  const node = [...new Set([...process.execArgv, withoutDebugger])];
  const script = [process.argv[1] ?? '', flag, ...options.argv];
  const worker = [programLoader(process.execPath), process.execPath, ...node, ...script];
  const env = withoutNodeOptions(around.inherited);
  return becomeInit(
    {
      file: init,
      args: [String(theirs), agentArgument(settings), settings.serviceAccountTokenPath, ...worker],
      env,
      descriptor: theirs,
      memory,
    },
    signal,
  );
}

/** An abstract name begins with NUL, which an argument cannot hold. */
function agentArgument({ agentAddr = '' }: ResolvedWrapperSettings): string {
  return agentAddr.replace(/^\0/, '@');
}
