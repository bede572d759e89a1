import type { S3Client } from '@aws-sdk/client-s3';
import { startFaultProxy } from './fault-proxy.ts';
import { startMinio } from './minio.ts';
import { s3Client } from './object-store.ts';
import { startOpenBao } from './openbao.ts';
import { startRequestLog } from './request-log.ts';
import { startSvcProxy } from './svc-proxy.ts';
import type {
  FaultProxy,
  ObjectStore,
  OpenBao,
  RequestLog,
  Stoppable,
  StoreOptions,
  SvcProxy,
  SvcProxyConfig,
} from './types.ts';
import { startVersityGw } from './versitygw.ts';

export interface RigOptions extends StoreOptions {
  readonly kind?: ObjectStore['kind'];
  /** Note what reaches the store. Off by default: the relay makes a reset of every cut. */
  readonly logged?: boolean;
}

/** A proxy process with a client for it. */
export interface RiggedProxy extends SvcProxy {
  /** Renewed by `reconnect` after a restart. */
  readonly s3: S3Client;
  reconnect(): Promise<void>;
}

/** Key server and store, each behind a relay that a test can break, and the proxies that use them. */
export interface Rig extends Stoppable {
  readonly bao: OpenBao;
  readonly store: ObjectStore;
  /** On the way from the proxies to the key server. */
  readonly toVault: FaultProxy;
  /** On the way from the proxies to the store. */
  readonly toStore: FaultProxy;
  /** What reached the store; empty unless `logged`. */
  readonly log: RequestLog;
  /** A token with the two transit paths and nothing else. */
  readonly token: string;
  readonly bucket: string;
  /** Ended with the rig at the latest. */
  proxy(options?: Partial<SvcProxyConfig>): Promise<RiggedProxy>;
}

/** Everything that a test of the running proxy needs, with one bucket. @throws ToolUnavailable */
export async function startRig({
  kind = 'versitygw',
  logged = false,
  ...options
}: RigOptions = {}): Promise<Rig> {
  const startStore = kind === 'minio' ? startMinio : startVersityGw;
  const [bao, store] = await Promise.all([startOpenBao(), startStore(options)]);
  const bucket = 'bucket';
  await Promise.all([bao.enableTransit(), store.createBucket(bucket)]);
  const token = await bao.policyToken();
  const log = await startRequestLog(store.url);
  const [toVault, toStore] = await Promise.all([
    startFaultProxy(bao.url),
    startFaultProxy(logged ? log.url : store.url),
  ]);
  const running: RiggedProxy[] = [];
  const upstream = {
    endpoint: toStore.url,
    region: store.region,
    accessKeyId: store.accessKeyId,
    secretAccessKey: store.secretAccessKey,
  };
  return {
    ...{ bao, store, toVault, toStore, log, token, bucket },
    async proxy(wish = {}) {
      const started = await startSvcProxy({ upstream, vault: { addr: toVault.url, token }, ...wish });
      const proxy = await rigged(started);
      running.push(proxy);
      return proxy;
    },
    async stop() {
      await Promise.all(running.map((proxy) => proxy.stop()));
      await Promise.all([toVault.stop(), toStore.stop()]);
      await log.stop();
      await Promise.all([bao.stop(), store.stop()]);
    },
  };
}

async function rigged(proxy: SvcProxy): Promise<RiggedProxy> {
  let s3 = await s3Client(proxy.target);
  const own = {
    get s3() {
      return s3;
    },
    async reconnect() {
      s3.destroy();
      s3 = await s3Client(proxy.target);
    },
    async stop() {
      s3.destroy();
      await proxy.stop();
    },
  };
  return Object.defineProperties(Object.create(proxy), Object.getOwnPropertyDescriptors(own));
}
