import { type GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET } from '../bed.ts';

export type SdkSuite = Test<{ bed: Bed; s3: S3Client }>;

export type SentHeaders = Readonly<Record<string, string>>;

export const at = (Key: string) => ({ Bucket: BUCKET, Key });

/** A source as `CopySource` wants it. */
export const source = (key: string, bucket = BUCKET) => `${bucket}/${encodeURIComponent(key)}`;

/** The body of an answer; the SDK checks the checksums that come with it. */
export async function content({ Body }: GetObjectCommandOutput): Promise<Buffer> {
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

/** Status and name of the error that an attempt ends with. */
export async function refusal(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    return `${$metadata?.httpStatusCode} ${name}`;
  }
  throw new Error('was not refused');
}

/** Compares without printing megabytes. */
export function same(actual: Buffer, expected: Buffer, what = 'content'): void {
  assert.ok(
    actual.equals(expected),
    `${what}: ${actual.length} bytes are not the ${expected.length} expected`,
  );
}

/** Keeps the headers of every request that the client sends from now on. */
export function sentHeaders(s3: S3Client): SentHeaders[] {
  const seen: SentHeaders[] = [];
  s3.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: SentHeaders };
      seen.push({ ...headers });
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'keepSentHeaders', override: true },
  );
  return seen;
}

/** The caller's own metadata; the proxy's shows beside it. */
export function own(metadata: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata ?? {}).filter(([name]) => !name.startsWith('svc-')));
}

/** A client of the proxy that adds no checksums of its own accord, as all did before 2025. */
export function withoutChecksums({ proxy }: Bed): S3Client {
  const { endpoint, region, ...credentials } = proxy.target;
  return new S3Client({
    ...{ endpoint, region, credentials, forcePathStyle: true, maxAttempts: 1 },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}
