import type { Component, ComponentDeps } from '../../runtime/component/contract.ts';
import { readConfig } from '../../runtime/component/read-config.ts';
import { svcVersion } from '../../runtime/component/version.ts';
import { createHealth } from '../../runtime/health/create-health.ts';
import { createMetrics } from '../../runtime/health/create-metrics.ts';
import { startHealthServer } from '../../runtime/health/health-server.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { Facts } from './facts.ts';
import { addressNear, givenAddress } from './listen-choice.ts';
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
  const { proxy, log, signal } = options;
  const listen = options.listen === undefined ? await addressNear(usualPort) : givenAddress(options.listen);
  const env = proxyEnvironment(servers, listen, await addressNear(usualHealthPort));
  const { own, healthAddress } = await readConfig(proxy, { env });
  const health = createHealth();
  const metrics = await createMetrics({ version: svcVersion(), component: proxy.name });
  const source = { snapshot: health.snapshot, expose: () => metrics.expose() };
  const healthServer = healthAddress && (await startHealthServer(healthAddress, source));
  const deps: ComponentDeps = { log, health, metrics, env };
  const close = async () => {
    await healthServer?.close();
    await servers.close();
  };
  try {
    const running = await proxy.start(own, deps, signal);
    const addresses = { proxy: running.facts['address'], health: healthServer?.address };
    const facts = factsOf(servers, addresses);
    return { facts, secrets: servers.secrets, closed: running.closed, close };
  } catch (error) {
    await healthServer?.close();
    throw error;
  }
}

/** All that the proxy is told; nothing of this process's own environment, which may steer it elsewhere. */
function proxyEnvironment({ keyServer, store, proxyToken }: Servers, listen: string, health: string) {
  return {
    SVC_PROXY_LISTEN: listen,
    SVC_PROXY_HEALTH: health,
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
  { proxy, health }: { readonly proxy: string | undefined; readonly health: string | undefined },
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
