import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { release } from 'node:os';
import { delimiter, join } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { hasCode } from '../../runtime/kube/errors.ts';
import type { Env, ValidateCall } from './call.ts';
import type { CheckContext } from './contract.ts';
import type { Host } from './host/contract.ts';
import { NotEvaluated, Skipped } from './not-evaluated.ts';
import type { ReadSettings } from './read-settings.ts';
import type { OpenStore } from './store/open-store.ts';
import type { OpenVault } from './vault/open-vault.ts';

/** A context with what it has opened. */
export interface OpenContext extends CheckContext {
  close(): Promise<void>;
}

export interface ContextParts {
  readonly call: ValidateCall;
  readonly settings: ReadSettings;
  readonly pre: boolean;
  readonly signal: AbortSignal;
}

/** Connections are made once, when they are first asked for. */
export function openContext({ call, settings, pre, signal: interrupted }: ContextParts): OpenContext {
  const { env, version } = call;
  const { config } = settings;
  const over = new AbortController();
  const signal = AbortSignal.any([interrupted, over.signal]);
  const vault = once<OpenVault>(async () => {
    const { vaultAddr } = config;
    if (vaultAddr === undefined) throw unnamed(pre);
    const { openVault } = await import('./vault/open-vault.ts');
    // a login that is under way goes on, so that its token can be given back
    return openVault({ ...config, vaultAddr }, interrupted);
  });
  const cluster = once<KubeClient>(() => connectCluster(env, signal));
  const store = once<OpenStore>(async () => {
    const { bucket } = config;
    if (bucket === undefined)
      throw new Skipped('No bucket is named: give --bucket, and --upstream where the store is not of AWS.');
    const { openStore } = await import('./store/open-store.ts');
    return openStore({ config, bucket, call });
  });
  return {
    ...settings,
    ...{ env, version, signal, components: call.components },
    now: Date.now,
    host: localHost(env),
    vault: vault.get,
    cluster: cluster.get,
    store: store.get,
    async close() {
      over.abort();
      await Promise.all([vault, cluster, store].map((each) => each.close()));
    },
  };
}

function unnamed(pre: boolean): Error {
  const reason = 'No secrets server is named: set VAULT_ADDR, or give --vault-address.';
  return pre ? new Skipped(reason) : new NotEvaluated(reason);
}

interface Closable {
  close(): unknown;
}

interface Once<T> {
  readonly get: () => Promise<T>;
  /** Closes what was made; what comes later, for which nobody waits, as it comes. */
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

/** @throws NotEvaluated where the environment names no cluster, or it does not answer */
async function connectCluster(env: Env, signal: AbortSignal): Promise<KubeClient> {
  const { createKubeClient } = await import('../../runtime/kube/create-client.ts');
  const client = await createKubeClient(env).catch((cause: unknown) => {
    throw new NotEvaluated(messageOf(cause), undefined, cause);
  });
  if (client === undefined)
    throw new NotEvaluated(
      'No cluster is named: set KUBECONFIG, run it in a pod, or leave the cluster out with --pre.',
    );
  await answers(client, signal);
  return client;
}

/** Whoever may not read the version has reached the API server nevertheless. */
async function answers(client: KubeClient, signal: AbortSignal): Promise<void> {
  try {
    await client.request({ path: '/version', timeoutMs: answerMs, signal });
  } catch (error) {
    if (hasCode(error, 'KUBE_DENIED') && error.status === 403) return;
    client.close();
    throw new NotEvaluated(
      `The API server ${client.server} does not let us in: ${messageOf(error)}`,
      undefined,
      error,
    );
  }
}

/** The machine that this runs on. */
function localHost(env: Env): Host {
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

const folders = (env: Env) => (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');

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
    const { memfdSecretRegion, systemCall } = await import('../../runtime/native/memfd-secret.ts');
    memfdSecretRegion(1, systemCall).release();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
