import { listenAddress } from '../../core/settings/listen-address.ts';
import type { Component, ComponentDeps, Running } from '../../runtime/component/contract.ts';
import { readConfig } from '../../runtime/component/read-config.ts';
import { svcVersion } from '../../runtime/component/version.ts';
import { createHealth } from '../../runtime/health/create-health.ts';
import { createMetrics } from '../../runtime/health/create-metrics.ts';
import { startHealthServer } from '../../runtime/health/health-server.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { Facts } from './facts.ts';
import { givenAddress, startNear } from './listen-choice.ts';
import { type Servers, startServers } from './servers.ts';
import type { SecretsSource } from './wrapped/secrets-source.ts';

export interface DevelopmentOptions {
  /** The proxy, which is loaded by the command. */
  readonly proxy: Component;
  /** `--listen`; undefined: the usual port or a free one. */
  readonly listen: string | undefined;
  /** `--data`; undefined: memory. */
  readonly dataFolder: string | undefined;
  readonly log: Logger;
  /** Asks all of it to drain and end. */
  readonly signal: AbortSignal;
}

export interface Development {
  readonly facts: Facts;
  readonly secrets: SecretsSource;
  /** Settles when the proxy has drained, or rejects when it broke; `close` follows. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export const usualPort = 8190;
const usualHealthPort = 8191;
const region = 'us-east-1';

/** Key server, object store and the proxy in front of them, all on loopback. @throws SvcError */
export async function startDevelopment(options: DevelopmentOptions): Promise<Development> {
  const servers = await startServers(options.dataFolder, options.log);
  try {
    return await startProxy(options, servers);
  } catch (error) {
    await servers.close();
    throw error;
  }
}

async function startProxy(options: DevelopmentOptions, servers: Servers): Promise<Development> {
  const { proxy, listen } = options;
  const health = createHealth();
  const ownMetrics = () => createMetrics({ version: svcVersion(), component: proxy.name });
  let metrics = await ownMetrics();
  const source = { snapshot: health.snapshot, expose: () => metrics.expose() };
  const healthServer = await startNear(usualHealthPort, (at) => startHealthServer(parseAddress(at), source));
  const close = async () => {
    await healthServer.close();
    await servers.close();
  };
  const start = async (at: string) => {
    metrics = await ownMetrics(); // one that did not start has left its own
    return runProxy(options, servers, at, { health, metrics });
  };
  try {
    const running = await (listen === undefined ? startNear(usualPort, start) : start(givenAddress(listen)));
    const facts = factsOf(servers, { proxy: running.facts['address'], health: healthServer.address });
    return { facts, secrets: servers.secrets, closed: running.closed, close };
  } catch (error) {
    await healthServer.close();
    throw error;
  }
}

async function runProxy(
  { proxy, log, signal }: DevelopmentOptions,
  servers: Servers,
  listen: string,
  observed: Pick<ComponentDeps, 'health' | 'metrics'>,
): Promise<Running> {
  const env = proxyEnvironment(servers, listen);
  const { own } = await readConfig(proxy, { env });
  return proxy.start(own, { log, env, ...observed }, signal);
}

const { parse: parseAddress } = listenAddress();

/** All that the proxy is told; nothing of this process's own environment, which may steer it elsewhere. */
function proxyEnvironment({ keyServer, store, proxyToken }: Servers, listen: string) {
  return {
    SVC_PROXY_LISTEN: listen,
    SVC_PROXY_UPSTREAM: store.url,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: store.accessKeyId,
    AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
    VAULT_ADDR: keyServer.url,
    VAULT_AUTH_METHOD: 'token',
    VAULT_TOKEN: proxyToken,
  };
}

/** Clients want keys; the proxy on loopback asks nobody for them. */
const client = { region, accessKeyId: 'dev', secretAccessKey: 'development' };

function factsOf(
  { keyServer, store, dataFolder }: Servers,
  { proxy, health }: { readonly proxy: string | undefined; readonly health: string },
): Facts {
  return {
    proxy: `http://${proxy}`,
    health: `http://${health}`,
    keyServer: keyServer.url,
    store: store.url,
    peek: store.peekUrl,
    dataFolder,
    client,
  };
}
