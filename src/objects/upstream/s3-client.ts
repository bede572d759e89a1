import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { outliveAborts } from '../../runtime/net/http-client/agent.ts';
import type { CredentialSource } from './credentials.ts';
import type { StoreAddress } from './store-settings.ts';

const connectMs = 5_000;
const answerMs = 20_000;
const sockets = 32;

export interface StoreClientParts {
  readonly address: StoreAddress;
  readonly credentials: CredentialSource;
  /** PEM certificates trusted in place of Node's own. */
  readonly ca?: string | undefined;
}

/** An object store client for commands, with a bounded number of retries. */
export function storeClient({ address, credentials, ca }: StoreClientParts): S3Client {
  return new S3Client({
    endpoint: address.upstream.href,
    region: address.region,
    credentials: async () => credentials(),
    forcePathStyle: true,
    maxAttempts: 3,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: new NodeHttpHandler({
      connectionTimeout: connectMs,
      requestTimeout: answerMs,
      throwOnRequestTimeout: true,
      httpAgent: outliveAborts(new HttpAgent({ keepAlive: true, maxSockets: sockets })),
      // verifies certificates regardless of NODE_TLS_REJECT_UNAUTHORIZED
      httpsAgent: outliveAborts(
        new HttpsAgent({ keepAlive: true, maxSockets: sockets, ...(ca && { ca }), rejectUnauthorized: true }),
      ),
    }),
  });
}
