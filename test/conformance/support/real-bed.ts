import type { S3Client } from '@aws-sdk/client-s3';
import { s3Client } from '../../support/object-store.ts';
import { startOpenBao } from '../../support/openbao.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import type { ObjectStore, Stoppable, SvcProxy } from '../../support/types.ts';
import { startVersityGw } from '../../support/versitygw.ts';

export const Bucket = 'conformance';

export interface RealBed extends Stoppable {
  readonly store: ObjectStore;
  readonly proxy: SvcProxy;
  /** To the proxy; renewed by `restart`. */
  readonly s3: S3Client;
  /** Another process of the proxy, with nothing cached and no memory used yet. */
  restart(): Promise<void>;
}

/** A proxy between OpenBao and versitygw. @throws ToolUnavailable */
export async function startRealBed(): Promise<RealBed> {
  const [bao, store] = await Promise.all([startOpenBao(), startVersityGw({ keepAlive: true })]);
  await Promise.all([bao.enableTransit(), store.createBucket(Bucket)]);
  const proxy = await startSvcProxy({
    upstream: store,
    vault: { addr: bao.url, token: await bao.policyToken() },
  });
  let s3 = await s3Client(proxy.target);
  return {
    ...{ store, proxy },
    get s3() {
      return s3;
    },
    async restart() {
      s3.destroy();
      await proxy.restart();
      s3 = await s3Client(proxy.target);
    },
    async stop() {
      s3.destroy();
      await proxy.stop();
      await Promise.all([bao.stop(), store.stop()]);
    },
  };
}
