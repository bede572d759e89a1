import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { startObjectStore } from '../../../src/plugins/dev/store/object-store.ts';
import { memoryCatalog } from '../../../src/plugins/dev/store/open-catalog.ts';
import { quietLog } from '../../plugins/dev/quiet-log.ts';
import { s3Client } from '../../support/object-store.ts';
import { startOpenBao } from '../../support/openbao.ts';
import { startRequestLog } from '../../support/request-log.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import type { RequestLog, S3Target, Stoppable, SvcProxy } from '../../support/types.ts';

export const Bucket = 'parts';

/** A relay on each side of the proxy that counts what passes. */
export interface Counters {
  readonly store: RequestLog;
  readonly keyServer: RequestLog;
}

export interface Bed extends Stoppable {
  readonly proxy: SvcProxy;
  /** To the proxy; renewed by `restart`. */
  readonly s3: S3Client;
  /** To the store behind it. */
  readonly behind: S3Client;
  readonly counters: Counters | undefined;
  /** Another process of the proxy, which knows nothing of what went before. */
  restart(): Promise<void>;
}

/**
 * A proxy between OpenBao and the development store, which takes parts of any size where real ones ask
 * for 5 MiB. @throws ToolUnavailable
 */
export async function startBed(counted: boolean): Promise<Bed> {
  const bao = await startOpenBao();
  await bao.enableTransit();
  const store = await startObjectStore(memoryCatalog(), quietLog(), { leastPartBytes: 1 });
  const { accessKeyId, secretAccessKey } = store;
  const target: S3Target = { endpoint: store.url, region: 'us-east-1', accessKeyId, secretAccessKey };
  const counters = counted
    ? { store: await startRequestLog(store.url), keyServer: await startRequestLog(bao.url) }
    : undefined;
  const upstream = { ...target, endpoint: counters?.store.url ?? store.url };
  const vault = { addr: counters?.keyServer.url ?? bao.url, token: await bao.policyToken() };
  const proxy = await startSvcProxy({ upstream, vault });
  let s3 = await s3Client(proxy.target);
  const behind = await s3Client(target);
  await behind.send(new CreateBucketCommand({ Bucket }));
  return {
    ...{ proxy, behind, counters },
    get s3() {
      return s3;
    },
    async restart() {
      s3.destroy();
      await proxy.restart();
      s3 = await s3Client(proxy.target);
    },
    async stop() {
      for (const client of [s3, behind]) client.destroy();
      await proxy.stop();
      await Promise.all([counters?.store.stop(), counters?.keyServer.stop()]);
      await Promise.all([store.close(), bao.stop()]);
    },
  };
}
