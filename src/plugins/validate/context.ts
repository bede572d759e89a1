import type { KubeClient } from '../../runtime/kube/client.ts';
import type { ValidateCall } from './call.ts';
import type { CheckContext } from './contract.ts';
import { localHost } from './host/local-host.ts';
import { connectCluster } from './kube/connect-cluster.ts';
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
