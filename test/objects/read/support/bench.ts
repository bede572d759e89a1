import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { S3Client } from '@aws-sdk/client-s3';
import { createVaultClient } from '../../../../src/keyserver/client.ts';
import { HangGuard } from '../../../../src/keyserver/hang-guard.ts';
import { createTransit } from '../../../../src/keyserver/transit.ts';
import { createDataKeys } from '../../../../src/objects/keys/data-keys.ts';
import { type OpenObjects, openObjects } from '../../../../src/objects/open-objects.ts';
import type { ProxyConfig } from '../../../../src/plugins/proxy/config.ts';
import type { ServerMetrics } from '../../../../src/plugins/proxy/metrics.ts';
import { RequestSlots } from '../../../../src/plugins/proxy/server/admit-request.ts';
import { createDispatch } from '../../../../src/plugins/proxy/server/dispatch.ts';
import { createRoutes } from '../../../../src/plugins/proxy/start-process.ts';
import type { Logger } from '../../../../src/runtime/logging/logger.ts';
import { startOpenBao } from '../../../support/openbao.ts';
import { startRequestLog } from '../../../support/request-log.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import type { ObjectStore, OpenBao, RequestLog, Stoppable, StoreOptions } from '../../../support/types.ts';
import { startVersityGw } from '../../../support/versitygw.ts';

export const bucket = 'data';
export const MiB = 1024 * 1024;

/** A proxy in the test's own process, so that each test chooses its configuration. */
export interface TestProxy extends Stoppable {
  readonly url: string;
  readonly client: S3Client;
  readonly context: OpenObjects;
  readonly spoolDir: string;
  /** Reasons of refused objects. */
  readonly refused: readonly string[];
}

/** Key server, store and a log of what reaches the store. */
export interface Bench extends Stoppable {
  readonly vault: OpenBao;
  readonly store: ObjectStore;
  readonly log: RequestLog;
  proxy(config?: Partial<ProxyConfig>): Promise<TestProxy>;
}

export async function startBench(options: StoreOptions = {}): Promise<Bench> {
  const [vault, store] = await Promise.all([startOpenBao(), startVersityGw(options)]);
  await vault.enableTransit();
  await store.createBucket(bucket);
  const log = await startRequestLog(store.url);
  const proxies: TestProxy[] = [];
  return {
    vault,
    store,
    log,
    async proxy(config = {}) {
      const proxy = await startProxy(vault, store, log.url, config);
      proxies.push(proxy);
      return proxy;
    },
    async stop() {
      for (const proxy of proxies) await proxy.stop();
      await log.stop();
      await Promise.all([vault.stop(), store.stop()]);
    },
  };
}

const quiet: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

async function startProxy(
  vault: OpenBao,
  store: ObjectStore,
  upstream: string,
  overrides: Partial<ProxyConfig>,
): Promise<TestProxy> {
  const folder = temporaryFolder('spool');
  const config = { ...defaults(store, upstream, folder), ...overrides };
  const refused: string[] = [];
  const vaultClient = createVaultClient({
    component: 'test',
    config: {
      endpoint: {
        url: new URL(vault.url),
        skipVerify: false,
        caFiles: [],
        caPath: undefined,
        client: undefined,
      },
      auth: { method: 'token', token: await vault.policyToken() },
      namespace: undefined,
    },
    log: quiet,
    onState: () => undefined,
  });
  const metrics = recording(refused);
  const hangGuard = new HangGuard({ timeoutMs: 5_000, log: quiet });
  const wrapping = { mount: 'transit', keyName: 'svc', joinCalls: true, hangGuard };
  const keys = createDataKeys(createTransit(vaultClient, wrapping), config);
  const env = { AWS_ACCESS_KEY_ID: store.accessKeyId, AWS_SECRET_ACCESS_KEY: store.secretAccessKey };
  const context = openObjects({
    ...{ config, keys, hangGuard, metrics, env },
    ...{ log: quiet, keysAhead: true },
  });
  const dispatch = createDispatch({
    services: context,
    metrics,
    authenticate: () => undefined,
    routes: createRoutes(),
    stallMs: 60_000,
    signal: new AbortController().signal,
    slots: new RequestSlots({
      ...{ served: 128, waiting: 0, memory: context.memory },
      makeRoom: () => undefined,
    }),
    onRefused: () => undefined,
    accessLog: undefined,
  });
  // longer than clients keep connections, as in the server that is shipped
  const limits = { requestTimeout: 0, keepAliveTimeout: 120_000, maxHeaderSize: 64 * 1024 };
  const server = createServer(limits, (request, response) => {
    void dispatch(request, response, false, context.memory.hold('heads'));
  });
  server.on('checkContinue', (request, response) => {
    void dispatch(request, response, true, context.memory.hold('heads'));
  });
  server.listen(0, '127.0.0.1');
  await Promise.all([once(server, 'listening'), vaultClient.start()]);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = clientFor(url);
  return {
    url,
    client,
    context,
    refused,
    spoolDir: folder.path,
    async stop() {
      client.destroy();
      server.close();
      server.closeAllConnections();
      context.close();
      await vaultClient.close();
      await folder.remove();
    },
  };
}

function defaults(store: ObjectStore, upstream: string, folder: TemporaryFolder): ProxyConfig {
  return {
    listen: { host: '127.0.0.1', port: 0 },
    tls: undefined,
    accessLog: undefined,
    upstream: new URL(upstream),
    region: store.region,
    upstreamSigning: 'auto',
    upstreamChecksum: 'crc32',
    callerKeys: undefined,
    hosts: [],
    allowAnonymous: false,
    format: 1,
    binding: 'key',
    requireBound: false,
    recoveryRecipients: [],
    unencryptedReads: 'allow',
    strict: false,
    spoolDir: folder.path,
    spoolSize: 1024 * MiB,
    verifyBuffer: 16 * MiB,
    verifyBudget: 32 * MiB,
    envelopeHeaders: 'shown',
    listSizes: 'plaintext',
    reservedPrefix: '.svc/',
    stateBucket: undefined,
    inlineLimit: 64 * MiB,
    workers: 1,
  };
}

function clientFor(endpoint: string): S3Client {
  return new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'caller', secretAccessKey: 'made-up-secret' },
    maxAttempts: 1,
  });
}

function recording(refused: string[]): ServerMetrics {
  return {
    request() {},
    bytes() {},
    inFlight() {},
    sent() {},
    keyServerHangs() {},
    refused: (reason) => void refused.push(reason),
  };
}
