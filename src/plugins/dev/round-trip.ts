import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { exitStatus, SvcError } from '../../runtime/errors.ts';

/** An object written and read through the proxy, and its stored form. */
export interface RoundTrip {
  readonly bucket: string;
  readonly key: string;
  readonly written: Buffer;
  readonly stored: StoredAsIs;
  readonly read: Buffer;
}

export interface StoredAsIs {
  readonly body: Buffer;
  /** The `x-amz-meta-svc-*` headers. */
  readonly metadata: Readonly<Record<string, string>>;
}

export const bucket = 'dev';
const key = 'hello.txt';
const text = 'Nobody but the holder of the key reads this text';

/** @throws SvcError DEV_ROUND_TRIP if a step fails, the store holds plaintext, or other bytes come back */
export async function roundTrip(facts: Facts): Promise<RoundTrip> {
  const { region, ...credentials } = facts.client;
  const target = { endpoint: facts.proxy, region, credentials, forcePathStyle: true };
  const trust = facts.caFile === undefined ? {} : { requestHandler: trusting(facts.caFile) };
  // the proxy retries the key server and the store by itself
  const client = new S3Client({ ...target, ...trust, maxAttempts: 1 });
  const written = Buffer.from(text);
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    await client.send(
      new PutObjectCommand({ Bucket: bucket, Key: key, Body: written, ContentType: 'text/plain' }),
    );
    const stored = await lookAt(`${facts.peek}/${bucket}/${key}`);
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    const read = Buffer.from((await Body?.transformToByteArray()) ?? []);
    return checked({ bucket, key, written, stored, read });
  } catch (error) {
    throw error instanceof SvcError ? error : failed(`The round trip failed: ${reasonOf(error)}`, error);
  } finally {
    client.destroy();
  }
}

const trusting = (caFile: string) => ({ httpsAgent: new Agent({ ca: readFileSync(caFile) }) });

async function lookAt(url: string): Promise<StoredAsIs> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the store answered ${response.status} for what it should hold`);
  const metadata = [...response.headers].filter(([name]) => name.startsWith('x-amz-meta-svc-'));
  return { body: Buffer.from(await response.arrayBuffer()), metadata: Object.fromEntries(metadata) };
}

function checked(trip: RoundTrip): RoundTrip {
  if (trip.stored.body.includes(trip.written)) throw failed('The store holds plaintext');
  if (!trip.read.equals(trip.written)) throw failed('What was read is not what was written');
  return trip;
}

const reasonOf = (error: unknown): string => {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return name === 'Error' || message.startsWith(name) ? message : `${name}: ${message}`;
};

const failed = (message: string, cause?: unknown): SvcError =>
  new SvcError('DEV_ROUND_TRIP', message, {
    nextStep: 'See the log of the proxy above.',
    exitStatus: exitStatus.failure,
    cause,
  });

/** Addresses and paths, for people and scripts. URLs have no trailing slash. */
export interface Facts {
  readonly proxy: string;
  /** PEM file of the proxy's authority, with TLS. */
  readonly caFile?: string;
  readonly health: string;
  readonly keyServer: string;
  readonly store: string;
  /** Base URL of unsigned access to stored bytes: append `/<bucket>/<key>`. */
  readonly peek: string;
  /** Absolute; undefined: memory. */
  readonly dataFolder: string | undefined;
  /** Settings for a client. */
  readonly client: {
    readonly region: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
}
