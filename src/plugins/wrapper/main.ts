import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { SecretClient } from '../../keyserver/secret-client/contract.ts';
import { createSecretClient } from '../../keyserver/secret-client/create-secret-client.ts';
import { type AuthorityPlaces, vaultConfig } from '../../keyserver/settings.ts';
import { svcVersion } from '../../runtime/component/package-folder.ts';
import { type LeanHealthServer, startLeanHealthServer } from '../../runtime/health/lean-health-server.ts';
import { createLeanMetrics, type LeanMetrics } from '../../runtime/health/plain-metrics.ts';
import { describeError, type Logger, reportFailure } from '../../runtime/logging/logger.ts';
import type { Region } from '../../runtime/native/memory.ts';
import { exitAtOnce, setCoreLimit, setDumpable, setSubreaper } from '../../runtime/native/own-process.ts';
import { type LockReport, lockProcessMemory } from '../../runtime/native/process-lock.ts';
import {
  createSecretMemory,
  type ShareableMemory,
  takeVariable,
} from '../../runtime/native/secret-memory.ts';
import { register } from './agent/register.ts';
import { createDigest } from './digest.ts';
import { handOverToInit, leavesNode } from './init/hand-over.ts';
import { authoritiesAreOpen } from './init/obstacles.ts';
import { workerFlag } from './init/records.ts';
import { runWorker } from './init/worker.ts';
import { createObservation, earlyLogger, type Observation } from './observation.ts';
import { type Obtained, obtain } from './obtain.ts';
import { prepare } from './prepare.ts';
import { type ApplicationEnvironment, inheritedEnvironment } from './prepare-application.ts';
import type { WrapperConfig } from './read-config.ts';
import type { ResolvedWrapperSettings } from './settings.ts';
import { becomeApplication } from './supervise/index.ts';
import {
  type CrashWatch,
  type Interruption,
  superviseApplication,
  watchCrash,
  watchInterruption,
} from './supervise-application.ts';

/** The whole of `svc-wrapper`. Ends the process, or becomes the application. */
export async function main(argv: readonly string[]): Promise<void> {
  let log = earlyLogger(process.env);
  const crash = watchCrash(() => log);
  logWarnings(() => log);
  const [first = ''] = argv;
  if (first === workerFlag || first === `${workerFlag}=token`) {
    exitAtOnce(crash.status(await runWorker(argv.slice(1), first !== workerFlag)));
  }
  const status = await wrap(argv, crash, (configured) => {
    log = configured;
  }).catch((error: unknown) => reportFailure(log, 'start.failed', error));
  exitAtOnce(crash.status(status));
}

async function wrap(
  argv: readonly string[],
  crash: CrashWatch,
  onLogger: (log: Logger) => void,
): Promise<number> {
  const interruption = watchInterruption();
  const { token, env } = takeToken();
  const prepared = prepare(argv, env);
  if ('status' in prepared) return prepared.status;
  onLogger(prepared.log);
  return runWrapper({ ...prepared, argv, token, interruption, crash });
}

/** By default Node writes warnings to `process.stderr`, which makes a pipe non-blocking for the application too. */
function logWarnings(log: () => Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log().warn('node.warning', { ...describeError(warning) }));
}

type Env = Readonly<Record<string, string | undefined>>;

export interface TakenToken {
  /** The token's bytes; undefined if VAULT_TOKEN is not set. */
  readonly token: Region | undefined;
  /** The environment with `*` in place of the token. */
  readonly env: Env;
}

const variable = 'VAULT_TOKEN';

/**
 * Moves VAULT_TOKEN out of the environment before anything makes a string of it. The settings are not known yet, so no
 * kind of memory is required here; if this region does not get the required kind, later ones do not either and fail.
 */
function takeToken(): TakenToken {
  if (!Object.hasOwn(process.env, variable)) return { token: undefined, env: process.env };
  const token = takeVariable(variable, createSecretMemory({ requireMemfdSecret: false, requireLock: false }));
  const given = token !== undefined && token.length > 0;
  return { token, env: { ...process.env, ...(given ? { [variable]: '*' } : {}) } };
}

export interface WrapperRunOptions {
  readonly argv: readonly string[];
  readonly config: WrapperConfig;
  readonly log: Logger;
  /** The bytes of VAULT_TOKEN; the run owns and releases them. */
  readonly token: Region | undefined;
  readonly interruption: Interruption;
  readonly crash: CrashWatch;
}

/**
 * Runs from a protected process without secrets to the end of the application. Logs failures.
 * @returns the exit status: the application's, or one of the wrapper's own
 */
async function runWrapper(options: WrapperRunOptions): Promise<number> {
  const { log, interruption } = options;
  try {
    return await run(options);
  } catch (error) {
    if (interruption.status !== undefined && error === interruption.signal.reason) {
      log.info('stopped', { remark: 'told to end before the application was started' });
      return interruption.status;
    }
    return reportFailure(log, 'start.failed', error);
  }
}

async function run(options: WrapperRunOptions): Promise<number> {
  const { config, log, token } = options;
  const { settings, file } = config;
  const { lock, inherited } = protectProcess(settings, log);
  const { rotation, delivery, requireMemfdSecret, requireMlock: requireLock } = settings;
  log.info('starting', { version: svcVersion(), command: file, rotation, delivery, lock: lock.mode });
  const metrics = createLeanMetrics();
  const observation = createObservation(metrics);
  const memory = createSecretMemory({ requireMemfdSecret, requireLock });
  const vault = vaultConfig(settings);
  const { caFiles, caPath } = vault.endpoint;
  const authorities = { caFiles, caPath };
  const client = createSecretClient({ config: vault, token, memory, log });
  try {
    const around = { config, memory, inherited };
    return await serve({ ...options, client, authorities, around, memory, observation, metrics });
  } finally {
    client.close();
  }
}

interface Service extends WrapperRunOptions {
  readonly client: SecretClient;
  readonly authorities: AuthorityPlaces;
  readonly around: ApplicationEnvironment;
  readonly memory: ShareableMemory;
  readonly observation: Observation;
  readonly metrics: LeanMetrics;
}

/** While the wrapper waits for the first response of a server, the health endpoint opens and svc-init is tried. */
async function serve(service: Service): Promise<number> {
  const { config, log, interruption, crash, client, authorities, around, observation } = service;
  const key = randomBytes(32);
  const digest = createDigest(key);
  const obtaining = obtainAfterRegistration(service, digest);
  const health = setImmediate().then(() => serveHealth(service));
  const leaving = setImmediate().then(() => leavesNode(config.settings, authorities, service.memory, log));
  try {
    const [obtained, server, leaves] = await Promise.all([obtaining, health, leaving]);
    interruption.signal.throwIfAborted();
    observation.health.alive('secrets');
    if (config.settings.exec) return await become(obtained, client, interruption.signal);
    const { registered } = obtained;
    if (leaves) {
      const { signal } = interruption;
      const tokenGiven = service.token !== undefined;
      return await handOverToInit({
        ...service,
        obtained,
        registered,
        tokenGiven,
        key,
        health: server,
        signal,
      });
    }
    if (authoritiesAreOpen(service.memory, config.settings, authorities)) client.keepAuthorities();
    return await superviseApplication({
      client,
      obtained,
      registered,
      around,
      digest,
      interruption,
      crash,
      observation,
      log,
    });
  } finally {
    await (await health.catch(() => undefined))?.close();
  }
}

async function obtainAfterRegistration(
  { config, log, interruption, client, around, observation }: Service,
  digest: ReturnType<typeof createDigest>,
): Promise<Obtained & { readonly registered: boolean }> {
  const { signal } = interruption;
  const registered = await register(config.settings, observation, log, signal);
  return { ...(await obtain({ client, around, digest, log, signal })), registered };
}

/** Not with SVC_EXEC: once the wrapper has become the application, nothing could answer probes. */
async function serveHealth({ config, log, observation }: Service): Promise<LeanHealthServer | undefined> {
  const { healthAddr, exec } = config.settings;
  if (healthAddr === undefined || exec) return undefined;
  const server = await startLeanHealthServer(healthAddr, observation);
  log.info('health.listening', { address: server.address });
  return server;
}

/** Does not return: the process is the application from then on. */
async function become({ prepared }: Obtained, client: SecretClient, signal: AbortSignal): Promise<never> {
  client.close();
  return becomeApplication(prepared.launch, signal);
}

export interface ProtectedSelf {
  readonly lock: LockReport;
  /** The environment that the wrapper was started with, without the token, as `KEY=VALUE` bytes. */
  readonly inherited: readonly Uint8Array[];
}

/**
 * Protects this process before it holds any secret: no core dumps, no swap, no reading by other processes of its user.
 * @throws SvcError MEMORY_LOCK_REFUSED (exit 71) if the lock is required and refused
 */
function protectProcess(settings: ResolvedWrapperSettings, log: Logger): ProtectedSelf {
  if (settings.coreLimit !== 'inherit') setCoreLimit(settings.coreLimit);
  const lock = lockProcessMemory({ required: settings.requireMlock });
  if (lock.mode !== 'all') log.warn('memory.lock', { mode: lock.mode, reason: lock.reason });
  const inherited = inheritedEnvironment();
  setDumpable(false);
  // an application that replaces the wrapper does not reap orphans
  if (!settings.exec) setSubreaper();
  return { lock, inherited };
}
