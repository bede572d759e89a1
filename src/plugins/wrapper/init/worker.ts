import { readFileSync } from 'node:fs';
import { retryAfterOf } from '../../../keyserver/contract.ts';
import { createSecretClient } from '../../../keyserver/secret-client/create-secret-client.ts';
import { vaultConfig } from '../../../keyserver/settings.ts';
import { TokenKeeper } from '../../../keyserver/token-keeper.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { createLeanMetrics, type LeanMetrics } from '../../../runtime/health/plain-metrics.ts';
import { describeError, type Logger, reportFailure } from '../../../runtime/logging/logger.ts';
import { isDumpable, setDumpable } from '../../../runtime/native/own-process.ts';
import { lockProcessMemory } from '../../../runtime/native/process-lock.ts';
import { statusBytes } from '../../../runtime/native/process-status.ts';
import { createSecretMemory, type ShareableMemory } from '../../../runtime/native/secret-memory.ts';
import { registerLater } from '../agent/register.ts';
import { measureProtection, reportToAgent } from '../agent/report.ts';
import { createDigest } from '../digest.ts';
import { ignoreTerminalAccess } from '../interruption.ts';
import { keepOnce, Rotation, reportKeepFailure, retryPauses } from '../keep.ts';
import { configuredLogger, createObservation, earlyLogger, type Observation } from '../observation.ts';
import { parseArguments } from '../prepare.ts';
import {
  type ApplicationEnvironment,
  inheritedEnvironment,
  prepareApplication,
} from '../prepare-application.ts';
import { readConfig } from '../read-config.ts';
import type { ResolvedWrapperSettings } from '../settings.ts';
import { InitApplication } from './application.ts';
import { sendParting } from './leave.ts';
import { type KeptByInit, WorkerLink } from './link.ts';
import { monotonicMs } from './records.ts';
import { readState, type WorkerMemory, writeState } from './worker-state.ts';

const agentTimeoutMs = 5_000;

/**
 * One pass on behalf of svc-init, which holds token and state between passes: reads the state, renews the token,
 * passes changed secrets on, leaves a new state.
 * @param tokenGiven whether VAULT_TOKEN had been set
 * @returns the exit status; after any other than 0 svc-init retries soon with the old state
 */
export async function runWorker(argv: readonly string[], tokenGiven: boolean): Promise<number> {
  let log = earlyLogger(process.env);
  ignoreTerminalAccess();
  try {
    requireUnreadable();
    const env = tokenGiven ? { ...process.env, VAULT_TOKEN: '*' } : process.env;
    const config = readConfig({ ...parseArguments(argv), env });
    log = configuredLogger(config.settings);
    const { requireMemfdSecret, requireMlock } = config.settings;
    lockProcessMemory({ required: requireMlock });
    const inherited = inheritedEnvironment();
    const memory = createSecretMemory({ requireMemfdSecret, requireLock: requireMlock });
    await work({ config, memory, inherited }, memory, log);
    return 0;
  } catch (error) {
    return reportFailure(log, 'worker.error', error);
  }
}

/**
 * svc-init starts a worker so that, from its first instruction, no process of its user can read it. A worker that was
 * ever readable may hold injected code and must not ask for the state.
 */
function requireUnreadable(): void {
  if (!isDumpable()) return setDumpable(false); // under fs.suid_dumpable=2 its core would still go to root
  throw new SvcError(
    'WORKER_READABLE',
    'Other processes of this user could have read this worker as it started',
    {
      nextStep: 'Set SVC_RESIDENT=true on this system.',
      exitStatus: exitStatus.system,
    },
  );
}

async function work(around: ApplicationEnvironment, memory: ShareableMemory, log: Logger): Promise<void> {
  const { settings } = around.config;
  const link = new WorkerLink(memory);
  const kept = link.takeOver();
  if (kept.state === undefined) throw new RangeError('svc-init has no state of a wrapper');
  const { token, key, memory: before } = readState(kept.state, memory);
  kept.state.handOver();
  const client = createSecretClient({
    ...{ config: vaultConfig(settings, before.authorities), tokenInUse: token, memory },
    openServiceAccountToken: link.openServiceAccountToken,
  });
  const metrics = createLeanMetrics();
  const observation = observationFrom(before, metrics);
  const { signal } = new AbortController();
  const tokens = new TokenKeeper(client, before.tokens, monotonicMs).recall(before.tokens);
  const ownToken = () => client.token() ?? Buffer.alloc(0);
  const application = new InitApplication(link, kept, (inUse) => {
    const remembered = { ...before, tokens: tokens.knowledge, inUse, refused: undefined };
    return writeState({ token: ownToken(), key, memory: remembered }, memory);
  });
  const rotation = new Rotation({
    ...{ client, settings, application, observation, log },
    scrub: () => undefined, // leftovers go with this process
    prepare: (delivered) => prepareApplication(delivered, around),
    digest: createDigest(key),
    ...{ inUse: before.inUse, refused: before.refused },
  });
  const registered =
    before.registered || (await registerLater(settings, observation, log, signal, link.connectAgent));
  const { failures, delayMs } = await pass({ tokens, rotation, settings, observation, log, before, signal });
  const secretMemory = await report({ link, application, kept, before, settings, log });
  await sendParting(link, {
    ...{ token: ownToken(), key, tokens, observation, metrics, delayMs },
    memory: {
      authorities: before.authorities,
      inUse: rotation.inUse,
      refused: rotation.refused,
      failures,
      registered,
      secretMemory,
    },
  });
  client.close();
}

interface Pass {
  readonly tokens: TokenKeeper;
  readonly rotation: Rotation;
  readonly settings: ResolvedWrapperSettings;
  readonly observation: Observation;
  readonly log: Logger;
  readonly before: WorkerMemory;
  readonly signal: AbortSignal;
}

/** A failed pass is reported, and leaves its state like any other. @returns when the next pass is due */
async function pass({ tokens, rotation, settings, observation, log, before, signal }: Pass) {
  const rotates = settings.rotation === 'none' ? undefined : rotation;
  try {
    await keepOnce({ tokens, rotation: rotates, observation, log, signal });
    return { failures: 0, delayMs: tokens.delayMs(settings.renewalInterval) };
  } catch (error) {
    const pause = retryPauses(() => tokens.longestRetryMs(), before.failures).next();
    const delayMs = Math.max(pause, retryAfterOf(error));
    reportKeepFailure({ observation, log }, error, delayMs);
    return { failures: before.failures + 1, delayMs };
  }
}

function observationFrom(before: WorkerMemory, metrics: LeanMetrics): Observation {
  const observation = createObservation(metrics);
  metrics.restore(before.metrics);
  observation.health.alive('secrets');
  for (const [condition, reason] of Object.entries(before.degraded)) {
    observation.health.degraded(condition, reason);
  }
  return observation;
}

interface Reported {
  readonly link: WorkerLink;
  readonly application: InitApplication;
  readonly kept: KeptByInit;
  readonly before: WorkerMemory;
  readonly settings: ResolvedWrapperSettings;
  readonly log: Logger;
}

/** Reports svc-init and the application to the node agent. A failure does not affect either. */
async function report({
  link,
  application,
  kept: { locked, unlocked },
  before,
  settings,
  log,
}: Reported): Promise<WorkerMemory['secretMemory']> {
  const measured = measureProtection(application.regions, application.pid || undefined, settings);
  const secretMemory = measured.secretMemory ?? before.secretMemory;
  const { agentAddr: socketPath } = settings;
  if (socketPath === undefined) return secretMemory;
  try {
    const swappedBytes = statusBytes(readFileSync(`/proc/${process.ppid}/status`, 'latin1'), 'VmSwap');
    const lockMode = locked === 0 ? 'none' : unlocked === 0 ? 'all' : 'partial';
    const own = { lockMode, lockedBytes: locked, unlockedBytes: unlocked, swappedBytes } as const;
    const wrapper = { ...measured.wrapper, ...own };
    const options = { socketPath, connection: link.connectAgent, timeoutMs: agentTimeoutMs };
    await reportToAgent({ ...measured, wrapper, secretMemory }, options);
  } catch (error) {
    log.warn('agent.report.failed', { ...describeError(error) });
  }
  return secretMemory;
}
