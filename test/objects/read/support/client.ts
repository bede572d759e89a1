import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { bucket, type TestProxy } from './bench.ts';

export interface ProxyResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** False when the connection broke before the announced length. */
  readonly complete: boolean;
}

/** The connection was reset before the head of an answer was seen. */
const broken: ProxyResponse = { status: 0, headers: {}, body: Buffer.alloc(0), complete: false };

/** One request as it stands, without an SDK that hides what the wire says. */
export function send(
  proxy: TestProxy,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<ProxyResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(`${proxy.url}${path}`, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      const settle = () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
          complete: response.complete,
        });
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', () => undefined);
      response.on('close', settle);
    });
    sent.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? resolve(broken) : reject(error),
    );
    sent.end();
  });
}

export const get = (proxy: TestProxy, key: string, headers: Record<string, string> = {}) =>
  send(proxy, `/${bucket}/${key}`, headers);

export const head = (proxy: TestProxy, key: string, headers: Record<string, string> = {}) =>
  send(proxy, `/${bucket}/${key}`, headers, 'HEAD');

export async function put(proxy: TestProxy, key: string, body: Buffer, extra: object = {}): Promise<string> {
  const { ETag } = await proxy.client.send(
    new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ...extra }),
  );
  return ETag ?? '';
}

/** Uploads `sizes.length` parts of random bytes. @returns the whole plaintext. */
export async function putParts(
  proxy: TestProxy,
  key: string,
  sizes: readonly number[],
  extra: { numbers?: readonly number[]; Metadata?: Record<string, string>; ContentType?: string } = {},
): Promise<Buffer> {
  const { numbers, ...create } = extra;
  const at = { Bucket: bucket, Key: key };
  const { UploadId } = await proxy.client.send(new CreateMultipartUploadCommand({ ...at, ...create }));
  const bodies = sizes.map((size) => randomBytes(size));
  const parts = [];
  for (const [index, Body] of bodies.entries()) {
    const PartNumber = numbers?.[index] ?? index + 1;
    const part = new UploadPartCommand({ ...at, UploadId, PartNumber, Body });
    const { ETag } = await proxy.client.send(part);
    parts.push({ PartNumber, ETag });
  }
  const MultipartUpload = { Parts: parts };
  await proxy.client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload }));
  return Buffer.concat(bodies);
}
