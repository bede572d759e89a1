import { Agent as HttpsAgent } from 'node:https';
import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { ProxyConfig } from '../config.ts';
import type { CredentialSource } from '../upstream/credentials.ts';

const connectMs = 5_000;
const answerMs = 20_000;
const sockets = 32;

export interface GcClientParts {
  readonly config: Pick<ProxyConfig, 'upstream' | 'region'>;
  readonly credentials: CredentialSource;
  /** PEM certificates to trust in place of Node's own. */
  readonly ca?: string | undefined;
}

/** A client of the store, with the same credentials, that retries a few times within bounds. */
export function gcClient({ config, credentials, ca }: GcClientParts): S3Client {
  return new S3Client({
    endpoint: config.upstream.href,
    region: config.region,
    credentials: async () => credentials(),
    forcePathStyle: true,
    maxAttempts: 3,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: new NodeHttpHandler({
      connectionTimeout: connectMs,
      requestTimeout: answerMs,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: sockets },
      httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets: sockets, ...(ca && { ca }) }),
    }),
  });
}
