import { Agent as HttpsAgent } from 'node:https';
import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { StateParts } from './state-parts.ts';

const connectMs = 5_000;
const answerMs = 20_000;
const sockets = 32;

/** A client of the same store, with the same credentials, that retries a few times within bounds. */
export function stateClient({ config, credentials, ca }: Omit<StateParts, 'buckets'>): S3Client {
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
