import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { createAgent } from '../../runtime/net/http-client/agent.ts';
import type { CredentialSource } from './credentials.ts';
import type { StoreAddress } from './store-settings.ts';

const connectMs = 5_000;
const answerMs = 20_000;
const kept = { keepAlive: true, maxSockets: 32 };

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
      httpAgent: createAgent('http:', kept),
      // verifies certificates regardless of NODE_TLS_REJECT_UNAUTHORIZED
      httpsAgent: createAgent('https:', { ...kept, ...(ca && { ca }), rejectUnauthorized: true }),
    }),
  });
}
