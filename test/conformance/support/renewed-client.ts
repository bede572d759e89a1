import type { S3Client } from '@aws-sdk/client-s3';
import { s3Client } from '../../support/object-store.ts';
import type { SvcProxy } from '../../support/types.ts';

export interface RenewedClient {
  /** To the proxy; renewed by `restart`. */
  readonly s3: S3Client;
  /** Another process of the proxy, with nothing cached and no memory used yet. */
  restart(): Promise<void>;
}

/** A client that follows its proxy from process to process. */
export async function renewedClient(proxy: SvcProxy): Promise<RenewedClient> {
  let s3 = await s3Client(proxy.target);
  return {
    get s3() {
      return s3;
    },
    async restart() {
      s3.destroy();
      await proxy.restart();
      s3 = await s3Client(proxy.target);
    },
  };
}
