import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { release } from 'node:os';
import { delimiter, join } from 'node:path';
import { hasCode, type KubeClient } from '../../cluster/kube/client.ts';
import type { RecoveryRehearsal } from '../../objects/format/recovery-rehearsal.ts';
import { messageOf, SvcError } from '../../runtime/errors.ts';
import { unlessAborted, within } from '../../runtime/lifecycle/wait.ts';
import { secrets } from '../../runtime/logging/secrets.ts';
import { counted } from '../../runtime/units.ts';
import {
  type Check,
  type CheckContext,
  type CheckResult,
  type ExaminedObject,
  type Host,
  NotEvaluated,
  NothingNamed,
  notEvaluated,
  Skipped,
  skipped,
} from './check.ts';
import { missingPermission } from './cluster/read.ts';
import type { OpenStore } from './open-store.ts';
import type { OpenVault } from './open-vault.ts';
import type { ReadSettings, ValidateCall, ValidateEnv } from './read-settings.ts';

const defaultTimeoutMs = 15_000;

/**
 * Opens the needed connection and runs a check within its timeout. Always yields a result, unless the run was
 * interrupted.
 */
export async function runCheck(check: Check, context: CheckContext): Promise<CheckResult> {
  const { timeoutMs = defaultTimeoutMs, undoMs = 0, needs } = check;
  // outside its time, because somebody may have to log in; it fails again within
  if (needs === 'cluster') await unlessAborted(context.cluster(), context.signal).catch(() => undefined);
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const late = () => new NotEvaluated(`It took longer than ${timeoutMs / 1_000} s`);
  const work = connectAndRun(check, context, signal);
  try {
    return redacted(await within(work, performance.now() + timeoutMs, context.signal, late));
  } catch (error) {
    context.signal.throwIfAborted();
    return redacted(unevaluated(error));
  } finally {
    stop.abort();
    if (undoMs > 0) await waitForUndo(work, undoMs);
  }
}

async function connectAndRun(check: Check, context: CheckContext, signal: AbortSignal): Promise<CheckResult> {
  const { needs } = check;
  if (needs === 'vault') await context.vault();
  if (needs === 'cluster') await context.cluster();
  if (needs === 'store') await context.store();
  return check.run(context, signal);
}

async function waitForUndo(work: Promise<unknown>, ms: number): Promise<void> {
  await within(work, performance.now() + ms, undefined, () => undefined).catch(() => undefined);
}

/** Converts an exception into a result. */
function unevaluated(thrown: unknown): CheckResult {
  if (thrown instanceof NothingNamed) return { state: thrown.state, reason: thrown.message, unset: true };
  if (thrown instanceof Skipped) return skipped(thrown.message);
  if (thrown instanceof NotEvaluated) return notEvaluated(thrown.message, thrown.permission);
  if (thrown instanceof SvcError) return notEvaluated(thrown.message, missingPermission(thrown));
  return notEvaluated(`The check itself broke: ${messageOf(thrown)}`);
}

/**
 * Redacts at once: after the attempt its tokens are forgotten, and in the report texts may be escaped for XML.
 */
export function redacted(result: CheckResult): CheckResult {
  switch (result.state) {
    case 'failed': {
      const failures = result.failures.map(({ subject, message, ...rest }) => ({
        ...rest,
        subject: clean(subject),
        message: clean(message),
      }));
      const { unknown } = result;
      const kept = unknown && { unknown: { ...unknown, reason: clean(unknown.reason) } };
      return { ...result, failures, ...kept, ...cleanExamined(result) };
    }
    case 'passed':
      return {
        ...result,
        ...(result.note !== undefined && { note: clean(result.note) }),
        ...(result.trusted !== undefined && { trusted: clean(result.trusted) }),
        ...cleanExamined(result),
      };
    default:
      return { ...result, reason: clean(result.reason) };
  }
}

const clean = (text: string) => secrets.redact(text);

const cleanExamined = ({ examined }: { readonly examined?: readonly ExaminedObject[] }) =>
  examined && {
    examined: examined.map(({ subject, found }) => ({ subject: clean(subject), found: clean(found) })),
  };

/** A context that can close what it has opened. */
export interface OpenContext extends CheckContext {
  close(): Promise<void>;
}

export interface ContextParts {
  readonly call: ValidateCall;
  readonly settings: ReadSettings;
  readonly pre: boolean;
  readonly signal: AbortSignal;
  /** Called with a short description of slow work. */
  readonly onProgress: (text: string) => void;
}

/** Connections are opened once, at their first use. */
export function openContext(parts: ContextParts): OpenContext {
  const { call, settings, pre, signal: interrupted } = parts;
  const { env, version } = call;
  const { config } = settings;
  const over = new AbortController();
  const signal = AbortSignal.any([interrupted, over.signal]);
  const vault = once<OpenVault>(async () => {
    const { vaultAddr } = config;
    if (vaultAddr === undefined) throw unnamed(pre);
    const { openVault } = await import('./open-vault.ts');
    // a login in progress continues, so that its token can be revoked
    return openVault({ ...config, vaultAddr }, interrupted);
  });
  const cluster = once<KubeClient>(() => connectCluster(env, signal));
  const store = once<OpenStore>(async () => {
    const { bucket } = config;
    if (bucket === undefined)
      throw new NothingNamed(
        'skipped',
        'No bucket is named: give --bucket, and --upstream if the store is not AWS S3.',
      );
    const { openStore } = await import('./open-store.ts');
    return openStore({ config, bucket, call });
  });
  return {
    ...settings,
    env,
    version,
    signal,
    components: call.components,
    now: Date.now,
    host: localHost(env),
    vault: vault.get,
    cluster: cluster.get,
    store: store.get,
    rehearsal: () => startRehearsal(parts, signal),
    async close() {
      over.abort();
      await Promise.all([vault, cluster, store].map((each) => each.close()));
    },
  };
}

function unnamed(pre: boolean): Error {
  const reason = 'No secrets server is named: set VAULT_ADDR, or give --vault-address.';
  return new NothingNamed(pre ? 'skipped' : 'not-evaluated', reason);
}

async function startRehearsal(
  { call, settings: { config }, onProgress }: ContextParts,
  signal: AbortSignal,
): Promise<RecoveryRehearsal> {
  const { bucket, recoveryKey, prefix = '', sample, readWhole } = config;
  if (bucket === undefined || recoveryKey === undefined)
    throw new NothingNamed(
      'skipped',
      'It was not asked for: give --rehearse-recovery, --bucket and --recovery-key.',
    );
  const rehearse = await call.rehearse();
  return rehearse({ ...config, recoveryKey }, call.env, {
    bucket,
    prefix,
    sample,
    readWhole,
    signal,
    onProgress: (listed, opened) =>
      onProgress(opened > 0 ? `${counted(opened, 'object')} opened` : `${counted(listed, 'object')} listed`),
  });
}

interface Closable {
  close(): unknown;
}

interface Once<T> {
  readonly get: () => Promise<T>;
  /** Closes the connection; one that is still being opened is closed as soon as it is open. */
  readonly close: () => Promise<void>;
}

function once<T extends Closable>(make: () => Promise<T>): Once<T> {
  let making: Promise<T> | undefined;
  let made: T | undefined;
  let over = false;
  const remember = async () => {
    made = await make();
    if (over) await made.close();
    return made;
  };
  return {
    get() {
      making ??= remember();
      return making;
    },
    async close() {
      over = true;
      await made?.close();
    },
  };
}

const answerMs = 8_000;

/** @throws NothingNamed if the environment names no cluster; NotEvaluated if it does not answer */
async function connectCluster(env: ValidateEnv, signal: AbortSignal): Promise<KubeClient> {
  const { createKubeClient } = await import('../../cluster/kube/create-client.ts');
  const client = await createKubeClient(env).catch((cause: unknown) => {
    throw new NotEvaluated(messageOf(cause), undefined, cause);
  });
  if (client === undefined)
    throw new NothingNamed(
      'not-evaluated',
      'No cluster is named: set KUBECONFIG, run it in a pod, or leave the cluster out with --pre.',
    );
  await assertAnswers(client, signal);
  return client;
}

/** A 403 for the version shows that the API server was reached. */
async function assertAnswers(client: KubeClient, signal: AbortSignal): Promise<void> {
  try {
    await client.request({ path: '/version', timeoutMs: answerMs, signal });
  } catch (error) {
    if (hasCode(error, 'KUBE_DENIED') && error.status === 403) return;
    client.close();
    throw new NotEvaluated(
      `The API server ${client.server} cannot be used: ${messageOf(error)}`,
      undefined,
      error,
    );
  }
}

/** The local machine. */
function localHost(env: ValidateEnv): Host {
  return {
    platform: process.platform,
    kernelRelease: release(),
    nodeVersion: process.version,
    read,
    exists: existsSync,
    hasProgram: (name) => folders(env).some((folder) => isExecutable(join(folder, name))),
    trySecretMemory,
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const folders = (env: ValidateEnv) => (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function trySecretMemory(): Promise<string | undefined> {
  try {
    const { memfdSecretRegion, systemCall } = await import('../../runtime/native/secret-memory.ts');
    memfdSecretRegion(1, systemCall).release();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
