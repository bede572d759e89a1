import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { memoryCatalog } from '../../../src/plugins/dev/servers.ts';
import { startObjectStore } from '../../../src/plugins/dev/store/object-store.ts';
import { quietLog } from '../../plugins/dev/quiet-log.ts';
import { s3Client } from '../../support/object-store.ts';
import { startOpenBao } from '../../support/openbao.ts';
import { startRequestLog } from '../../support/request-log.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import type { RequestLog, S3Target, Stoppable, SvcProxy } from '../../support/types.ts';
import { type RenewedClient, renewedClient } from '../support/renewed-client.ts';

export const Bucket = 'parts';

/** A relay on each side of the proxy that counts what passes. */
export interface Counters {
  readonly store: RequestLog;
  readonly keyServer: RequestLog;
}

export interface Bed extends RenewedClient, Stoppable {
  readonly proxy: SvcProxy;
  /** To the store behind it. */
  readonly behind: S3Client;
  readonly counters: Counters | undefined;
}

/**
 * A proxy between OpenBao and the development store, which takes parts of any size where real ones ask
 * for 5 MiB. @param args of the proxy @throws ToolUnavailable
 */
export async function startBed(counted: boolean, args: readonly string[] = []): Promise<Bed> {
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
  const proxy = await startSvcProxy({ upstream, vault, args });
  const client = await renewedClient(proxy);
  const behind = await s3Client(target);
  await behind.send(new CreateBucketCommand({ Bucket }));
  return {
    ...{ proxy, behind, counters },
    get s3() {
      return client.s3;
    },
    restart: () => client.restart(),
    async stop() {
      for (const each of [client.s3, behind]) each.destroy();
      await proxy.stop();
      await Promise.all([counters?.store.stop(), counters?.keyServer.stop()]);
      await Promise.all([store.close(), bao.stop()]);
    },
  };
}
