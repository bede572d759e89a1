import { isVaultError, LoginRefused, mayPass, retryAfterOf, VaultError } from '../../keyserver/contract.ts';
import type { TokenLease } from '../../keyserver/logins.ts';
import type { SecretClient, SecretDocument } from '../../keyserver/secret-client/contract.ts';
import { messageOf, SvcError } from '../../runtime/errors.ts';
import { retry } from '../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { relock } from '../../runtime/native/process-lock.ts';
import { type Delivered, nameSecrets } from './name-secrets.ts';
import {
  type ApplicationEnvironment,
  type PreparedApplication,
  prepareApplication,
} from './prepare-application.ts';

export interface Obtained {
  readonly lease: TokenLease;
  readonly prepared: PreparedApplication;
  /** Of the prepared secrets. */
  readonly digest: string;
  /** Number of prepared secrets. */
  readonly count: number;
}

export interface ObtainOptions {
  readonly client: SecretClient;
  readonly around: ApplicationEnvironment;
  readonly digest: (delivered: readonly Delivered[]) => string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Fetches the secrets and lays them out for the application; no other copy is kept.
 * @throws VaultError (69, 77, 78), SvcError SECRETS_UNUSABLE (78), MEMFD_SECRET_UNAVAILABLE (71)
 */
export async function obtain({ client, around, digest, log, signal }: ObtainOptions): Promise<Obtained> {
  const { settings } = around.config;
  const { secretPaths: paths, startupTimeout: timeoutMs } = settings;
  const { lease, documents } = await fetchSecrets(client, { paths, timeoutMs, signal, log });
  try {
    relock();
    const delivered = nameSecrets(documents, settings);
    const prepared = prepareApplication(delivered, around);
    tell(prepared, delivered, around, log);
    return { lease, prepared, digest: digest(delivered), count: delivered.length };
  } finally {
    releaseAll(documents);
  }
}

/** Logs names and counts only. */
function tell(
  { shared, replaced, region }: PreparedApplication,
  delivered: readonly Delivered[],
  { config: { settings } }: ApplicationEnvironment,
  log: Logger,
): void {
  log.info('secrets.fetched', {
    secrets: delivered.length,
    paths: settings.secretPaths,
    memory: region.kind,
    locked: region.locked,
  });
  if (replaced.length > 0) log.warn('secrets.replace.inherited', { names: replaced });
  if (settings.delivery === 'both' && !shared) {
    log.warn('descriptor.unavailable', {
      remark: 'the kernel or its limits allow no memfd_secret memory: only the environment has the secrets',
    });
  }
}

export interface FetchOptions {
  readonly paths: readonly string[];
  /** From the first attempt to the start of the last, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface Fetched {
  readonly lease: TokenLease;
  readonly documents: readonly SecretDocument[];
}

/** Short, so that applications start soon after the secrets server is unsealed. */
const backoff = { initialMs: 100, maxMs: 600 };
/** Each is an entry in an audit log, and a question to the API server. */
const refusedMs = 2_000;

/**
 * Logs in once and reads every path (both at once if the token is already known); retries while the secrets server is
 * sealed, away or busy, or refuses the login.
 * @throws VaultError: a refusal of a path at once, of the login or `unavailable` (exit 69) when the time is up
 */
async function fetchSecrets(client: SecretClient, options: FetchOptions): Promise<Fetched> {
  const { paths, timeoutMs, signal, log } = options;
  let lease: TokenLease | undefined;
  const attempt = async (): Promise<Fetched> => {
    const [login, reading] = await Promise.allSettled([
      lease ?? client.logIn(signal),
      readAll(client, paths, signal),
    ]);
    if (login.status === 'rejected') {
      if (reading.status === 'fulfilled') releaseAll(reading.value);
      throw login.reason;
    }
    lease = login.value;
    if (reading.status === 'rejected') throw reading.reason;
    return { lease, documents: reading.value };
  };
  return retry(attempt, {
    ...backoff,
    maxElapsedMs: timeoutMs,
    signal,
    isRetryable: (error) => mayPass(error) || error instanceof LoginRefused,
    leastMs: (error) => (error instanceof LoginRefused ? refusedMs : retryAfterOf(error)),
    onRetry: (error, delayMs, count) => complain(log, error, delayMs, count),
  });
}

/** Logs the first failure, then every tenth: a minute of attempts must not fill the log. */
function complain(log: Logger, error: unknown, delayMs: number, count: number): void {
  if (count % 10 !== 1) return;
  const reason = messageOf(error);
  const nextStep = error instanceof SvcError ? error.nextStep : undefined;
  log.warn('secrets.waiting', { error: reason, nextStep, attempt: count, retry_ms: Math.round(delayMs) });
}

/**
 * Reads all paths concurrently; the caller releases the documents.
 * @throws VaultError naming every refused path, or else the first that could not be read
 */
export async function readAll(
  client: Pick<SecretClient, 'read'>,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<SecretDocument[]> {
  const readings = await Promise.allSettled(paths.map((path) => client.read(path, signal)));
  const documents = readings.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
  const failures = readings.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown);
  if (failures.length === 0) return documents;
  releaseAll(documents);
  throw together(failures);
}

export function releaseAll(documents: readonly SecretDocument[]): void {
  for (const document of documents) document.release();
}

/** Views of the values, not copies. */
export function valuesIn(documents: readonly SecretDocument[]): Buffer[] {
  return documents.flatMap(({ fields }) => fields.map(({ value }) => asBuffer(value)));
}

const asBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);

/** Failures that no retry can fix come first; refusals are reported together. */
function together(failures: readonly unknown[]): unknown {
  const final = failures.filter((error) => !mayPass(error));
  const [first] = final;
  if (first === undefined) return failures[0];
  if (final.length === 1 || !isVaultError(first)) return first;
  const details = new Set(final.map((error) => (error instanceof SvcError ? error.message : String(error))));
  const { kind, code, exitStatus, nextStep } = first;
  return new VaultError(kind, [...details].join('; '), { code, exitStatus, nextStep, cause: first });
}
