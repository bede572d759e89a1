import { startOpenBao } from '../../support/openbao.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import type { ObjectStore, Stoppable, SvcProxy } from '../../support/types.ts';
import { startVersityGw } from '../../support/versitygw.ts';
import { type RenewedClient, renewedClient } from './renewed-client.ts';

export const Bucket = 'conformance';

export interface RealBed extends RenewedClient, Stoppable {
  readonly store: ObjectStore;
  readonly proxy: SvcProxy;
  readonly vault: { readonly addr: string; readonly token: string };
  /** Makes the next version of the proxy's key. */
  rotate(): Promise<void>;
}

export interface RealBedOptions {
  /** Of `svc run proxy`. */
  readonly proxyArgs?: readonly string[];
}

/** A proxy between OpenBao and versitygw. @throws ToolUnavailable */
export async function startRealBed({ proxyArgs = [] }: RealBedOptions = {}): Promise<RealBed> {
  const [bao, store] = await Promise.all([startOpenBao(), startVersityGw({ keepAlive: true })]);
  await Promise.all([bao.enableTransit(), store.createBucket(Bucket)]);
  const vault = { addr: bao.url, token: await bao.policyToken({ ttl: '30h' }) };
  const proxy = await startSvcProxy({ upstream: store, vault, args: proxyArgs });
  const client = await renewedClient(proxy);
  return {
    ...{ store, proxy, vault },
    get s3() {
      return client.s3;
    },
    restart: () => client.restart(),
    rotate: () => bao.rotate(),
    async stop() {
      client.s3.destroy();
      await proxy.stop();
      await Promise.all([bao.stop(), store.stop()]);
    },
  };
}
