import { createVaultClient, type ExchangingVaultClient } from '../../keyserver/client.ts';
import { clientDeadlineMs, HangGuard, KeyServerHangs } from '../../keyserver/hang-guard.ts';
import { vaultConfig } from '../../keyserver/settings.ts';
import { createTransit } from '../../keyserver/transit.ts';
import type { OperationHandler } from '../../objects/context.ts';
import { copyObject, uploadPartCopy } from '../../objects/copy/copy-object.ts';
import { createDataKeys } from '../../objects/keys/data-keys.ts';
import { createUpload } from '../../objects/multipart/create-upload.ts';
import { abortUpload, completeUpload } from '../../objects/multipart/end-upload.ts';
import { uploadPart } from '../../objects/multipart/upload-part.ts';
import { type OpenObjects, openObjects } from '../../objects/open-objects.ts';
import { getObject, headObject } from '../../objects/read/get-object.ts';
import { ObjectLooks } from '../../objects/read/look-at-object.ts';
import type { OperationName } from '../../objects/s3/operation.ts';
import { putObject } from '../../objects/write/put-object.ts';
import type { ComponentDeps, Running } from '../../runtime/component/contract.ts';
import { returnMemoryNowAndThen } from '../../runtime/lifecycle/return-memory.ts';
import { untilAborted } from '../../runtime/lifecycle/wait.ts';
import { keepFreedBlocks, keepHeapSmallUnderLoad } from '../../runtime/memory.ts';
import { Connections } from '../../runtime/net/connections.ts';
import type { ProxyConfig } from './config.ts';
import { createProxyMetrics } from './metrics.ts';
import { deleteBucket } from './operations/delete-bucket.ts';
import { deleteObject, deleteObjects } from './operations/delete-objects.ts';
import { listBuckets } from './operations/list-buckets.ts';
import { createListHandler, PlaintextCache } from './operations/list-objects.ts';
import { listParts } from './operations/list-parts.ts';
import { getObjectAttributes } from './operations/object-attributes.ts';
import { passThrough } from './operations/pass-through.ts';
import {
  type Conditions,
  keyCheck,
  type ReadinessWatch,
  storeCheck,
  watchReadiness,
  whyUnusable,
} from './readiness.ts';
import { createAccessLog } from './server/access-log.ts';
import { createAuthenticate, RequestSlots } from './server/admit-request.ts';
import { createDispatch } from './server/dispatch.ts';
import { type S3Server, startServer } from './server/server.ts';
import type { ResolvedProxySettings } from './settings.ts';

/** Milliseconds without a byte after which a caller's request ends. */
const stallMs = 60_000;

/**
 * Limits on what callers can make this process hold, so that it stays within 128 MiB whatever they do. They apply to
 * each worker.
 */
const connectionBounds = { handshakes: 64, requests: 2, staleMs: 5_000 };
/** A TLS connection takes 66 KiB, and what it sends is there a second time, encrypted. */
const crowdOf = { http: { connections: 448, requests: 96 }, tls: { connections: 192, requests: 48 } };

export interface ProcessOptions {
  readonly config: ProxyConfig;
  readonly settings: ResolvedProxySettings;
  readonly deps: ComponentDeps;
  /**
   * Receives the reasons that keep this process from serving: no token (`vault`), no wrapping or unwrapping (`keys`),
   * no `store`.
   */
  readonly conditions: Conditions;
}

/** Serves S3 in this process until `signal` is aborted and all requests in flight have been answered. */
export async function startProcess(options: ProcessOptions, signal: AbortSignal): Promise<Running> {
  const { config, settings, deps, conditions } = options;
  const { log, env } = deps;
  keepHeapSmallUnderLoad();
  keepFreedBlocks();
  let readiness: ReadinessWatch | undefined;
  const vault = createVaultClient({
    component: 'proxy',
    config: vaultConfig(settings),
    log,
    onState({ ready, reason }) {
      if (!ready) return conditions.notReady('vault', reason);
      conditions.ready('vault');
      readiness?.hurry();
    },
    limits: { deadlineMs: clientDeadlineMs(settings.vaultTimeout) },
  });
  const metrics = createProxyMetrics(deps.metrics);
  const hangGuard = new HangGuard({
    timeoutMs: settings.vaultTimeout,
    log,
    onChange(hangs) {
      metrics.keyServerHangs(hangs);
      if (hangs) readiness?.fails('keys', whyUnusable(new KeyServerHangs()));
      else readiness?.hurry();
    },
  });
  const transit = createTransit(vault, {
    mount: settings.transitMount,
    keyName: settings.transitKey,
    joinCalls: settings.joinKeyCalls,
    hangGuard,
  });
  const keysAhead = settings.joinKeyCalls;
  const keys = createDataKeys(transit, config);
  const context = openObjects({ config, keys, hangGuard, metrics, log, env, keysAhead });
  try {
    const crowd = config.tls === undefined ? crowdOf.http : crowdOf.tls;
    const connections = new Connections({ ...connectionBounds, connections: crowd.connections });
    const dispatch = createDispatch({
      services: context,
      metrics,
      authenticate: createAuthenticate(config),
      routes: createRoutes(),
      stallMs,
      signal,
      slots: new RequestSlots({
        served: crowd.requests,
        waiting: crowd.connections - crowd.requests,
        memory: context.memory,
        makeRoom: () => connections.endStale(),
      }),
      onRefused: (socket, response) => connections.refused(socket, response),
      accessLog: config.accessLog && createAccessLog(config.accessLog, log),
    });
    const server = await startServer(config, { dispatch, connections, memory: context.memory, log, signal });
    void vault.start();
    returnMemoryNowAndThen(largeBytes, signal);
    const checks = [keyCheck(context.keys, config), storeCheck(config, context.trust)];
    readiness = watchReadiness(checks, { conditions, log, signal });
    return {
      facts: facts(config, server),
      closed: drained(server, signal).finally(() => close(context, vault)),
    };
  } catch (error) {
    await close(context, vault);
    throw error;
  }
}

/**
 * Resident bytes. An idle proxy has 80 MiB; a container has 128. malloc alone keeps 30 MiB after an hour of mixed load,
 * and briefly 30 MiB more, which has killed a proxy in a 128 MiB container.
 */
const largeBytes = 100 * 1024 ** 2;

const facts = (config: ProxyConfig, server: S3Server) => ({
  address: server.address,
  upstream: config.upstream.origin,
  ...(config.tls === undefined ? {} : { tls: config.tls.certFile }),
  callers: config.callerKeys === undefined ? 'not authenticated' : 'authenticated',
});

async function drained(server: S3Server, signal: AbortSignal): Promise<void> {
  await untilAborted(signal);
  await server.drain();
}

async function close(context: OpenObjects, vault: ExchangingVaultClient): Promise<void> {
  context.close();
  await vault.close();
}

type Routes = Readonly<Record<OperationName, OperationHandler>>;

export function createRoutes(): Routes {
  const sizes = new PlaintextCache();
  const looks = new ObjectLooks();
  return {
    PutObject: putObject,
    GetObject: getObject(looks),
    HeadObject: headObject(looks),
    DeleteObject: deleteObject,
    DeleteObjects: deleteObjects,
    CopyObject: copyObject,
    CreateMultipartUpload: createUpload,
    UploadPart: uploadPart,
    UploadPartCopy: uploadPartCopy,
    CompleteMultipartUpload: completeUpload,
    AbortMultipartUpload: abortUpload,
    ListParts: listParts,
    ListMultipartUploads: createListHandler('ListMultipartUploads', sizes),
    ListObjects: createListHandler('ListObjects', sizes),
    ListObjectsV2: createListHandler('ListObjectsV2', sizes),
    ListObjectVersions: createListHandler('ListObjectVersions', sizes),
    GetObjectAttributes: getObjectAttributes,
    ListBuckets: listBuckets,
    DeleteBucket: deleteBucket,
    PassThrough: passThrough,
  };
}
