import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { SecretClient } from '../../keyserver/secret-client/contract.ts';
import { createSecretClient } from '../../keyserver/secret-client/create-secret-client.ts';
import { type AuthorityPlaces, vaultConfig } from '../../keyserver/settings.ts';
import { svcVersion } from '../../runtime/component/package-folder.ts';
import { exitStatus } from '../../runtime/errors.ts';
import { type LeanHealthServer, startLeanHealthServer } from '../../runtime/health/lean-health-server.ts';
import { createLeanMetrics, type LeanMetrics } from '../../runtime/health/plain-metrics.ts';
import { describeError, type Logger, reportFailure } from '../../runtime/logging/logger.ts';
import type { Region } from '../../runtime/native/memory.ts';
import { exitAtOnce, setCoreLimit, setDumpable } from '../../runtime/native/own-process.ts';
import { type LockReport, lockProcessMemory } from '../../runtime/native/process-lock.ts';
import { createSecretMemory, takeVariable } from '../../runtime/native/secret-memory.ts';
import { register } from './agent/register.ts';
import { createDigest } from './digest.ts';
import { type BecomeOptions, becomeResident, handOverToInit, workerStays } from './init/hand-over.ts';
import { WorkerLink } from './init/link.ts';
import { type WorkerRole, workerRole } from './init/records.ts';
import { runResident } from './init/resident.ts';
import { runWorker } from './init/worker.ts';
import { readToken } from './init/worker-state.ts';
import { type Interruption, watchCrash, watchInterruption } from './interruption.ts';
import { createObservation, earlyLogger, type Observation } from './observation.ts';
import { type Obtained, obtain } from './obtain.ts';
import { prepare } from './prepare.ts';
import { inheritedEnvironment } from './prepare-application.ts';
import type { WrapperConfig } from './read-config.ts';
import { becomeApplication } from './replace-process.ts';
import type { ResolvedWrapperSettings } from './settings.ts';

/** The whole of `svc-wrapper`, and of its workers. Ends the process, or becomes svc-init or the application. */
export async function main(argv: readonly string[]): Promise<void> {
  let log = earlyLogger(process.env);
  watchCrash(() => log);
  logWarnings(() => log);
  const role = workerRole(argv[0]);
  const own = role === undefined ? argv : argv.slice(1);
  if (role?.resident === false) exitAtOnce(await runWorker(own, role.tokenGiven));
  const status = await wrap(own, role, (configured) => {
    log = configured;
  }).catch((error: unknown) => reportFailure(log, 'start.failed', error));
  exitAtOnce(status);
}

/** @param role of a worker that makes the first pass below svc-init, and stays */
async function wrap(
  argv: readonly string[],
  role: WorkerRole | undefined,
  onLogger: (log: Logger) => void,
): Promise<number> {
  const interruption = watchInterruption();
  const { token, env } = role === undefined ? takeToken() : { token: undefined, env: withPlaceholder(role) };
  const prepared = prepare(argv, env, role === undefined);
  if ('status' in prepared) return prepared.status;
  onLogger(prepared.log);
  return runWrapper({ ...prepared, argv, role, token, interruption });
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
  const tokenGiven = token !== undefined && token.length > 0;
  return { token, env: withPlaceholder({ tokenGiven }) };
}

const withPlaceholder = ({ tokenGiven }: Pick<WorkerRole, 'tokenGiven'>): Env => ({
  ...process.env,
  ...(tokenGiven ? { [variable]: '*' } : {}),
});

export interface WrapperRunOptions {
  readonly argv: readonly string[];
  readonly role: WorkerRole | undefined;
  readonly config: WrapperConfig;
  readonly log: Logger;
  /** The bytes of VAULT_TOKEN; the run owns and releases them. */
  readonly token: Region | undefined;
  readonly interruption: Interruption;
}

/**
 * Runs from a protected process without secrets until it is replaced or, below svc-init, ended. Logs failures.
 * @returns the exit status of a wrapper whose application was not started
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
  const { argv, config, log, role, token, interruption } = options;
  const { settings } = config;
  const inherited = protectProcess(settings);
  const { requireMemfdSecret, requireMlock: requireLock } = settings;
  const memory = createSecretMemory({ requireMemfdSecret, requireLock });
  const around = { config, memory, inherited };
  const tokenGiven = token !== undefined && token.length > 0;
  const becoming = { argv, tokenGiven, around, memory, signal: interruption.signal };
  if (role === undefined && settings.resident && !settings.exec) {
    return becomeResident(becoming, token?.bytes);
  }
  const lock = lockProcessMemory({ required: requireLock });
  const link = role && new WorkerLink(memory);
  const metrics = createLeanMetrics();
  const observation = createObservation(metrics);
  const vault = vaultConfig(settings);
  const { caFiles, caPath } = vault.endpoint;
  const authorities = { caFiles, caPath };
  const client = createSecretClient({
    ...{ config: vault, memory, log, token: link === undefined ? token : givenToken(link) },
    ...(link && { openServiceAccountToken: link.openServiceAccountToken }),
  });
  const digests = digesting();
  const isPlain = vault.endpoint.url.protocol === 'http:';
  const service = {
    ...{ ...becoming, config, log, lock, client, isPlain, authorities, observation, metrics, ...digests },
  };
  try {
    return await (link === undefined ? start(service) : startBelowInit(service, link));
  } finally {
    client.close();
  }
}

/** VAULT_TOKEN, which svc-init has kept from the process that it replaced. */
function givenToken(link: WorkerLink): Region | undefined {
  const { state } = link.takeOver();
  if (state === undefined) return undefined;
  try {
    return readToken(state, link.memory);
  } finally {
    state.release();
  }
}

function digesting() {
  const key = randomBytes(32);
  return { key, digest: createDigest(key) };
}

interface Service extends BecomeOptions, ReturnType<typeof digesting> {
  readonly config: WrapperConfig;
  readonly log: Logger;
  readonly lock: LockReport;
  readonly client: SecretClient;
  /** Whether the secrets server is reached without TLS. */
  readonly isPlain: boolean;
  readonly authorities: AuthorityPlaces;
  readonly observation: Observation;
  readonly metrics: LeanMetrics;
}

/**
 * Starts the application, and is replaced by it or by svc-init. While the wrapper connects to a server, it looks whether
 * svc-init can start workers; if one of them must stay, that one begins anew, because no request was sent yet.
 */
async function start(service: Service): Promise<number> {
  const { config, log, client, authorities, memory, signal } = service;
  const { settings } = config;
  const abandoned = new AbortController();
  const begin = () => obtainAfterRegistration(service, AbortSignal.any([signal, abandoned.signal]));
  // without TLS a connection to a loopback address is there at once, and the first request is sent
  const early = service.isPlain ? undefined : begin();
  early?.catch(() => undefined); // awaited below
  await setImmediate();
  if (!settings.exec && workerStays(settings, authorities, memory, log)) {
    abandoned.abort();
    await early?.catch(() => undefined);
    return becomeResident(service, client.token());
  }
  const obtaining = early ?? begin();
  obtaining.catch(() => undefined); // awaited below
  logStart(service);
  const health = setImmediate().then(() => serveHealth(service));
  try {
    const [obtained, server] = await Promise.all([obtaining, health]);
    signal.throwIfAborted();
    service.observation.health.alive('secrets');
    if (settings.exec) {
      client.close();
      return await becomeApplication(obtained.prepared.launch, signal);
    }
    return await handOverToInit({ ...service, obtained, registered: obtained.registered, health: server });
  } finally {
    await (await health.catch(() => undefined))?.close();
  }
}

/** The first pass of a worker that stays. */
async function startBelowInit(service: Service, link: WorkerLink): Promise<number> {
  const { signal, observation } = service;
  logStart(service);
  const obtaining = obtainAfterRegistration(service, signal, link);
  const health = setImmediate().then(() => serveHealth(service));
  const [obtained, server] = await Promise.all([obtaining, health]);
  signal.throwIfAborted();
  observation.health.alive('secrets');
  await runResident({ ...service, link, obtained, registered: obtained.registered, health: server });
  return exitStatus.internal;
}

function logStart({ config: { settings, file }, lock, log }: Service): void {
  const { rotation, delivery } = settings;
  if (lock.mode !== 'all') log.warn('memory.lock', { mode: lock.mode, reason: lock.reason });
  log.info('starting', { version: svcVersion(), command: file, rotation, delivery, lock: lock.mode });
}

async function obtainAfterRegistration(
  { config, log, client, around, digest, observation }: Service,
  signal: AbortSignal,
  link?: WorkerLink,
): Promise<Obtained & { readonly registered: boolean }> {
  const registered = await register(config.settings, observation, log, signal, link?.connectAgent);
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

/**
 * Lets this process neither dump core nor be read by other processes of its user, before it holds any secret.
 * @returns the environment that the wrapper was started with, without the token, as `KEY=VALUE` bytes
 */
function protectProcess({ coreLimit }: ResolvedWrapperSettings): readonly Uint8Array[] {
  if (coreLimit !== 'inherit') setCoreLimit(coreLimit);
  const inherited = inheritedEnvironment();
  setDumpable(false);
  return inherited;
}
