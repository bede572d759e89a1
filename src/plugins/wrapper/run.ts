import { setImmediate } from 'node:timers/promises';
import { reportFailure } from '../../runtime/component/report-failure.ts';
import type { HealthServer } from '../../runtime/health/health-server.ts';
import { startLeanHealthServer } from '../../runtime/health/lean-health-server.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { Region } from '../../runtime/native/region.ts';
import { createSecretMemory } from '../../runtime/native/secret-memory.ts';
import { vaultConfig } from '../../runtime/vault/config.ts';
import type { SecretClient } from '../../runtime/vault/secret-client/contract.ts';
import { createSecretClient } from '../../runtime/vault/secret-client/create-secret-client.ts';
import type { Surroundings } from './application/prepared.ts';
import type { CrashWatch } from './crash.ts';
import type { Interruption } from './interruption.ts';
import { createObservation, type Observation } from './observe/observation.ts';
import { type Obtained, obtain } from './obtain.ts';
import { protectProcess } from './protect.ts';
import type { WrapperConfig } from './read-config.ts';
import { register } from './register.ts';
import { createDigest } from './secrets/digest.ts';
import { stay } from './stay.ts';
import { becomeApplication } from './supervise/index.ts';
import { wrapperVersion } from './version.ts';

export interface RunOptions {
  readonly config: WrapperConfig;
  readonly log: Logger;
  /** The bytes of VAULT_TOKEN; they belong to the run from now on. */
  readonly token: Region | undefined;
  readonly interruption: Interruption;
  readonly crash: CrashWatch;
}

/**
 * From a protected process without any secret to the end of the application. Failures have been logged.
 * @returns the exit status: the application's, or one of the wrapper's own
 */
export async function runWrapper(options: RunOptions): Promise<number> {
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

async function run(options: RunOptions): Promise<number> {
  const { config, log, token } = options;
  const { settings, file } = config;
  const { lock, inherited } = protectProcess(settings, log);
  const { rotation, delivery, requireMemfdSecret, requireMlock: requireLock } = settings;
  log.info('starting', { version: wrapperVersion(), command: file, rotation, delivery, lock: lock.mode });
  const observation = createObservation();
  const memory = createSecretMemory({ requireMemfdSecret, requireLock });
  const client = createSecretClient({ config: vaultConfig(settings), token, memory });
  try {
    return await serve({ ...options, client, around: { config, memory, inherited }, observation });
  } finally {
    client.close();
  }
}

interface Service extends RunOptions {
  readonly client: SecretClient;
  readonly around: Surroundings;
  readonly observation: Observation;
}

/** The health endpoint is opened while the first answer from outside is waited for. */
async function serve(service: Service): Promise<number> {
  const { config, log, interruption, crash, client, around, observation } = service;
  const digest = createDigest();
  const obtaining = obtainAfterRegistration(service, digest);
  const health = setImmediate().then(() => serveHealth(service));
  try {
    const [obtained] = await Promise.all([obtaining, health]);
    interruption.signal.throwIfAborted();
    observation.health.alive('secrets');
    if (config.settings.exec) return await become(obtained, client, interruption.signal);
    return await stay({
      client,
      obtained,
      registered: obtained.registered,
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

/** There is nobody to answer once the wrapper has become the application. */
async function serveHealth({ config, log, observation }: Service): Promise<HealthServer | undefined> {
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
