import { reportFailure } from '../../runtime/component/report-failure.ts';
import type { HealthServer } from '../../runtime/health/health-server.ts';
import { startLeanHealthServer } from '../../runtime/health/lean-health-server.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { Region } from '../../runtime/native/region.ts';
import { createSecretMemory } from '../../runtime/native/secret-memory.ts';
import { vaultConfig } from '../../runtime/vault/config.ts';
import { createSecretClient } from '../../runtime/vault/secret-client/create-secret-client.ts';
import type { Interruption } from './interruption.ts';
import { createObservation, type Observation } from './observe/observation.ts';
import { type Obtained, obtain } from './obtain.ts';
import { type ProtectedProcess, protectProcess } from './protect.ts';
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
  const { config, log, interruption } = options;
  const { settings, file } = config;
  const guarded = protectProcess(settings, log);
  const { rotation, delivery } = settings;
  log.info('starting', {
    version: wrapperVersion(),
    command: file,
    rotation,
    delivery,
    lock: guarded.lock.mode,
  });
  const observation = createObservation();
  const health = serveHealth(options, observation);
  try {
    await Promise.all([health, register(settings, observation, log, interruption.signal)]);
    return await serve(options, guarded, observation);
  } finally {
    await (await health.catch(() => undefined))?.close();
  }
}

/** There is nobody to answer once the wrapper has become the application. */
async function serveHealth(
  { config, log }: RunOptions,
  observation: Observation,
): Promise<HealthServer | undefined> {
  const { healthAddr, exec } = config.settings;
  if (healthAddr === undefined || exec) return undefined;
  const { health, metrics } = observation;
  const server = await startLeanHealthServer(healthAddr, {
    snapshot: health.snapshot,
    expose: metrics.expose,
  });
  log.info('health.listening', { address: server.address });
  return server;
}

async function serve(
  { config, log, token, interruption }: RunOptions,
  { inherited }: ProtectedProcess,
  observation: Observation,
): Promise<number> {
  const { settings } = config;
  const { requireMemfdSecret, requireMlock: requireLock } = settings;
  const memory = createSecretMemory({ requireMemfdSecret, requireLock });
  const around = { config, memory, inherited };
  const client = createSecretClient({ config: vaultConfig(settings), token, memory });
  const digest = createDigest();
  try {
    const obtained = await obtain({ client, around, digest, log, signal: interruption.signal });
    interruption.signal.throwIfAborted();
    observation.health.alive('secrets');
    if (settings.exec) return await become(obtained, client.close.bind(client));
    return await stay({ client, obtained, around, digest, interruption, observation, log });
  } finally {
    client.close();
  }
}

/** Does not return: the process is the application from then on. */
async function become({ prepared }: Obtained, closeClient: () => void): Promise<never> {
  closeClient();
  return becomeApplication(prepared.launch);
}
