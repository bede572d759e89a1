import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isatty } from 'node:tty';
import { SvcError } from '../../../core/errors.ts';
import type { LeanMetrics } from '../../../runtime/health/health.ts';
import type { LeanHealthServer } from '../../../runtime/health/lean-health-server.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { NativeError } from '../../../runtime/native/libc.ts';
import { hasCapability } from '../../../runtime/native/own-process.ts';
import { ownMemoryMap, unlockAll } from '../../../runtime/native/process-lock.ts';
import { readProcess, waitFor } from '../../../runtime/native/processes.ts';
import { recordSocketPair, sendRecord } from '../../../runtime/native/record-channel.ts';
import type { ShareableMemory } from '../../../runtime/native/secret-memory.ts';
import { spawn } from '../../../runtime/native/spawn.ts';
import { certificateFiles } from '../../../runtime/vault/connection.ts';
import type { SecretClient } from '../../../runtime/vault/secret-client/contract.ts';
import { vaultPlace } from '../../../runtime/vault/settings.ts';
import { measureOwnProtection } from '../agent/report.ts';
import { TokenKeeper } from '../keep.ts';
import type { Observation } from '../observation.ts';
import type { Obtained } from '../obtain.ts';
import { type ApplicationEnvironment, withoutNodeOptions } from '../prepare-application.ts';
import type { ResolvedWrapperSettings } from '../settings.ts';
import { becomeInit, withStrings } from '../supervise/index.ts';
import { sendParting, sendStart } from './leave.ts';
import { programLoader } from './program-loader.ts';
import {
  findInit,
  monotonicMs,
  ownFile,
  recordKind,
  settingFlags,
  withoutDebugger,
  workerFlag,
} from './records.ts';
import { isSelfContained, replaceableBySetting, replaceablePart, unaskedFiles } from './replaceable.ts';

export interface HandOverOptions {
  /** The wrapper's own arguments, for its workers. */
  readonly argv: readonly string[];
  /** Whether VAULT_TOKEN was set. */
  readonly tokenGiven: boolean;
  readonly client: SecretClient;
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

/** With a node agent, the first worker comes soon: it reports on the application. */
const reportAfterMs = 1_000;
const workerMostMs = 120_000;

export const hasTerminal = (): boolean => (readProcess('self')?.terminal ?? 0) !== 0;

/**
 * Whether svc-init takes over. Job control is the resident wrapper's: whoever works at a terminal does not need svc-init's
 * small size.
 */
export function leavesNode(settings: ResolvedWrapperSettings, memory: ShareableMemory, log: Logger): boolean {
  const { resident, exec } = settings;
  if (exec || resident === true || hasTerminal()) return false;
  const obstacle = resident === false ? undefined : obstacleToLeaving(memory, settings);
  if (obstacle !== undefined) log.info('resident', { reason: obstacle });
  return obstacle === undefined;
}

/** A security module may forbid to execute a memfd, a sandbox may not know what makes a process unreadable. */
function obstacleToLeaving(memory: ShareableMemory, settings: ResolvedWrapperSettings): string | undefined {
  try {
    const file = findInit();
    const loader = programLoader(process.execPath);
    // one that may trace every process gains nothing by it
    const open = hasCapability('sys_ptrace')
      ? undefined
      : openToApplication(
          [loader, file, ...loadedFiles(), ...trustedFiles(settings)],
          isSelfContained(loader),
        );
    if (open !== undefined) return `the application could replace ${open}, which workers load or trust`;
    const pid = withStrings({ file, args: [], env: [], memory }, (strings) =>
      spawn({ file, ...strings, inherit: [], ownGroup: false }),
    );
    return waitFor(pid) === 0 ? undefined : 'svc-init cannot start workers that nobody can read';
  } catch (error) {
    if (error instanceof SvcError || error instanceof NativeError) return error.message;
    throw error;
  }
}

/** What a worker will load: the files that this process has mapped, and those that it has read. */
function loadedFiles(): string[] {
  const mapped = ownMemoryMap().map(({ name }) => name);
  const script = ownFile();
  const files = [process.execPath, ...mapped, process.argv[1] ?? '', script, workerCache(script)];
  return [...new Set(files)].filter((name) => name.startsWith('/') && existsSync(name));
}

/** What V8 has compiled of the script, in the wrapper's folder. */
const workerCache = (script: string): string => join(dirname(script), 'worker.cache');

/** Certificates by which it knows the secrets server. */
function trustedFiles(settings: ResolvedWrapperSettings): string[] {
  const { caFiles, caPath } = vaultPlace(settings).endpoint;
  return [...caFiles, ...(caPath === undefined ? [] : [caPath, ...certificateFiles(caPath)])];
}

/** What of the files is open to the application, which has the user of the wrapper, or a setting by which it gets at others. */
function openToApplication(files: readonly string[], selfContained: boolean): string | undefined {
  if (hasCapability('sys_admin')) return 'any file (by a mount, with CAP_SYS_ADMIN)';
  for (const file of [...files, ...unaskedFiles(selfContained)]) {
    const part = replaceablePart(resolve(file));
    if (part !== undefined) return part;
  }
  const setting = replaceableBySetting(process.env, process.execArgv, selfContained);
  return setting && `files that ${setting} names`;
}

/**
 * Becomes svc-init, which starts the application and wakes a worker for each renewal; nothing of Node stays.
 * @throws SvcError INIT_MISSING (71), or (126, 127) for a program that cannot be run; the signal's reason
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
  // takes 6 ms, and nobody else asks
  const { secretMemory } = settings.agentAddr === undefined ? {} : measureOwnProtection([prepared.region]);
  // under a small limit secret memory needs that room, and this process ends in a moment
  if (!settings.requireMlock) unlockAll();
  const tokens = new TokenKeeper(client, obtained.lease, monotonicMs);
  const due = tokens.delayMs(settings.renewalInterval);
  await sendParting(
    { socket, memory },
    {
      ...{ token: client.token() ?? Buffer.alloc(0), key: options.key, tokens, observation, metrics },
      memory: {
        ...{ inUse: obtained.digest, refused: undefined, failures: 0, registered: options.registered },
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

/** An argument holds no NUL, with which an abstract name begins. */
function agentArgument({ agentAddr = '' }: ResolvedWrapperSettings): string {
  return agentAddr.replace(/^\0/, '@');
}
