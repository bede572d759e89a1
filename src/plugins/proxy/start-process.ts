import type { ComponentDeps, Running } from '../../runtime/component/contract.ts';
import { untilAborted } from '../../runtime/lifecycle/wait.ts';
import { keepFreedBlocks, keepHeapSmall } from '../../runtime/memory.ts';
import { Connections } from '../../runtime/net/connections.ts';
import { createVaultClient, type ExchangingVaultClient } from '../../runtime/vault/client.ts';
import { vaultConfig } from '../../runtime/vault/settings.ts';
import { createTransit } from '../../runtime/vault/transit.ts';
import type { ProxyConfig } from './config.ts';
import { createContext, type OwnedContext } from './create-context.ts';
import { createProxyMetrics } from './metrics.ts';
import { type Conditions, keyCheck, storeCheck, watchReadiness } from './readiness.ts';
import { createRoutes } from './routes.ts';
import { BodyBudget, createAuthenticate, RequestSlots, ResponseMemory } from './server/admit-request.ts';
import { createDispatch } from './server/dispatch.ts';
import { type S3Server, startServer } from './server/server.ts';
import type { ResolvedProxySettings } from './settings.ts';

/** Milliseconds that a caller may keep a request waiting without a byte. */
const stallMs = 60_000;

/**
 * What callers may make this process hold, so that it stays within 128 MiB whatever they do. A worker has these bounds
 * for itself.
 */
const connectionBounds = { connections: 512, requests: 8, staleMs: 5_000 };
const requestsAtOnce = 128;
const bodyBytes = 4 * 1024 * 1024;
const answerBytes = 2 * 1024 * 1024;

export interface ProcessOptions {
  readonly config: ProxyConfig;
  readonly settings: ResolvedProxySettings;
  readonly deps: ComponentDeps;
  /** Told what keeps this process from serving: no token (`vault`), no wrapping or unwrapping (`keys`), no `store`. */
  readonly conditions: Conditions;
}

/** Serves S3 in this process until `signal` is aborted and everything in flight has been answered. */
export async function startProcess(options: ProcessOptions, signal: AbortSignal): Promise<Running> {
  const { config, settings, deps, conditions } = options;
  const { log, env } = deps;
  keepHeapSmall();
  keepFreedBlocks();
  let onLogin = (): void => undefined;
  const vault = createVaultClient({
    config: vaultConfig(settings),
    log,
    onState({ ready, reason }) {
      if (!ready) return conditions.notReady('vault', reason);
      conditions.ready('vault');
      onLogin();
    },
  });
  const metrics = createProxyMetrics(deps.metrics);
  const transit = createTransit(vault, {
    mount: settings.transitMount,
    keyName: settings.transitKey,
    joinCalls: settings.joinKeyCalls,
  });
  const context = createContext({ config, transit, metrics, log, env });
  try {
    const connections = new Connections(connectionBounds);
    const dispatch = createDispatch({
      services: context,
      metrics,
      authenticate: createAuthenticate(config),
      routes: createRoutes(),
      stallMs,
      draining: () => signal.aborted,
      bodies: new BodyBudget(bodyBytes),
      slots: new RequestSlots(requestsAtOnce, () => connections.endStale()),
      answers: new ResponseMemory(answerBytes),
    });
    const server = await startServer(config.listen, dispatch, connections);
    void vault.start();
    const checks = [keyCheck(context.keys, config), storeCheck(config, context.trust)];
    onLogin = watchReadiness(checks, { conditions, log, signal });
    return {
      facts: facts(config, server),
      closed: drained(server, signal).finally(() => close(context, vault)),
    };
  } catch (error) {
    await close(context, vault);
    throw error;
  }
}

const facts = (config: ProxyConfig, server: S3Server) => ({
  address: server.address,
  upstream: config.upstream.origin,
  callers: config.callerKeys === undefined ? 'not authenticated' : 'authenticated',
});

async function drained(server: S3Server, signal: AbortSignal): Promise<void> {
  await untilAborted(signal);
  await server.drain();
}

async function close(context: OwnedContext, vault: ExchangingVaultClient): Promise<void> {
  context.close();
  await vault.close();
}
