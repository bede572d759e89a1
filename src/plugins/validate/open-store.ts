import {
  DeleteObjectCommand,
  GetBucketPolicyStatusCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetPublicAccessBlockCommand,
  HeadBucketCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { defaultCredentials } from '../../objects/upstream/credentials.ts';
import { storeClient } from '../../objects/upstream/s3-client.ts';
import { type StoreAddress, storeOf, trustedAuthorities } from '../../objects/upstream/store-settings.ts';
import type { Component, Running } from '../../runtime/component/contract.ts';
import { fullMessageOf, httpStatusOf } from '../../runtime/errors.ts';
import { createMetrics } from '../../runtime/health/create-metrics.ts';
import { createHealth } from '../../runtime/health/health.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { resolveSettings } from '../../runtime/settings/resolve.ts';
import {
  type CheckedBucket,
  type FetchedObject,
  NotEvaluated,
  type S3Endpoint,
  type StoreAccess,
} from './check.ts';
import type { ValidateCall, ValidateEnv } from './read-settings.ts';
import type { ValidateConfig } from './settings.ts';

export interface OpenStore extends StoreAccess {
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  readonly config: ValidateConfig;
  readonly bucket: string;
  readonly call: Pick<ValidateCall, 'env' | 'given' | 'proxy' | 'version'>;
}

/** @throws SvcError if AWS_CA_BUNDLE cannot be read */
export function openStore({ config, bucket, call }: OpenStoreOptions): OpenStore {
  const { env } = call;
  const address = storeOf(config);
  const ca = trustedAuthorities(env);
  const client = storeClient({ address, credentials: defaultCredentials(env, quiet), ca });
  const proxied = proxyAccess(address, { config, bucket, call }, ca);
  return {
    bucket,
    address: address.upstream,
    direct: s3Endpoint(client, address.upstream.host, bucket),
    proxied: proxied.endpoint,
    facts: (signal) => bucketFacts(client, bucket, signal),
    async close() {
      client.destroy();
      await proxied.close();
    },
  };
}

interface ProxyAccess {
  readonly endpoint: () => Promise<S3Endpoint>;
  readonly close: () => Promise<void>;
}

/** Opened on first use, so that a proxy starts only if needed. */
function proxyAccess(store: StoreAddress, options: OpenStoreOptions, ca: string | undefined): ProxyAccess {
  const closing: (() => unknown)[] = [];
  const open = async () => {
    const address = await proxyAddress(options, (own) => closing.push(() => own.close()));
    const client = storeClient({
      address: { upstream: address, region: store.region },
      credentials: () => callerKeys(options.config),
      ca,
    });
    closing.unshift(() => client.destroy());
    return s3Endpoint(client, address.host, options.bucket);
  };
  let opening: Promise<S3Endpoint> | undefined;
  return {
    endpoint() {
      opening ??= open();
      return opening;
    },
    async close() {
      await opening?.catch(() => undefined);
      for (const end of closing) await end();
    },
  };
}

async function proxyAddress(
  { config, call }: OpenStoreOptions,
  onStart: (own: OwnProxy) => void,
): Promise<URL> {
  if (config.proxy !== undefined) return config.proxy;
  const { env, version, given } = call;
  const component = await call.proxy();
  const own = await startOwnProxy({ component, flags: knownTo(component, given), env, version });
  onStart(own);
  return own.address;
}

/** Given flags that the proxy has as well, such as the transit key. */
function knownTo({ settings }: Component, given: ValidateCall['given']): ValidateCall['given'] {
  const flags = new Set(Object.values(settings).map(({ flag }) => flag));
  return Object.fromEntries(Object.entries(given).filter(([name]) => flags.has(name)));
}

/** A proxy without caller keys accepts any. */
function callerKeys({ proxyAccessKeyId, proxySecretAccessKey }: ValidateConfig) {
  return {
    accessKeyId: proxyAccessKeyId ?? 'svc-validate',
    secretAccessKey: proxySecretAccessKey ?? 'not-asked-for',
  };
}

/** Not every store supports these requests, so a refusal means "unknown". @throws Error if there is no response */
export async function bucketFacts(
  client: S3Client,
  Bucket: string,
  abortSignal: AbortSignal,
): Promise<CheckedBucket> {
  const [versioning, block, policy] = await Promise.all([
    unlessRefused(client.send(new GetBucketVersioningCommand({ Bucket }), { abortSignal })),
    unlessRefused(client.send(new GetPublicAccessBlockCommand({ Bucket }), { abortSignal })),
    unlessRefused(client.send(new GetBucketPolicyStatusCommand({ Bucket }), { abortSignal })),
  ]);
  const rules = block?.PublicAccessBlockConfiguration;
  return {
    versioning: versioning && (versioning.Status ?? 'off'),
    blocksPublicAccess: rules && rules.RestrictPublicBuckets === true && rules.BlockPublicPolicy === true,
    isPublic: policy?.PolicyStatus?.IsPublic,
  };
}

async function unlessRefused<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (httpStatusOf(error) === undefined) throw error;
    return undefined;
  }
}

/** A bucket behind one endpoint, through the AWS SDK. */
export function s3Endpoint(client: S3Client, host: string, Bucket: string): S3Endpoint {
  return {
    host,
    async put(Key, Body, abortSignal) {
      await client.send(new PutObjectCommand({ Bucket, Key, Body }), { abortSignal });
    },
    get: (key, signal) => get(client, Bucket, key, signal),
    async remove(Key, VersionId, abortSignal) {
      await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }), { abortSignal });
    },
    hasBucket: (signal) => hasBucket(client, Bucket, signal),
  };
}

async function get(
  client: S3Client,
  Bucket: string,
  Key: string,
  abortSignal: AbortSignal,
): Promise<FetchedObject> {
  const found = await client.send(new GetObjectCommand({ Bucket, Key }), { abortSignal });
  const { Body, Metadata = {}, VersionId: version } = found;
  const body = Buffer.from((await Body?.transformToByteArray()) ?? []);
  const metadata = Object.entries(Metadata).map(([name, value]) => [name.toLowerCase(), value]);
  return { body, metadata: Object.fromEntries(metadata), version };
}

async function hasBucket(client: S3Client, Bucket: string, abortSignal: AbortSignal): Promise<boolean> {
  try {
    await client.send(new HeadBucketCommand({ Bucket }), { abortSignal });
    return true;
  } catch (error) {
    if (httpStatusOf(error) === 404) return false;
    throw error;
  }
}

export interface OwnProxy {
  readonly address: URL;
  close(): Promise<void>;
}

export interface OwnProxyOptions {
  readonly component: Component;
  /** Settings in addition to the environment. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: ValidateEnv;
  readonly version: string;
}

/** Starts the proxy in this process, on a free loopback port. @throws NotEvaluated if it does not start */
export async function startOwnProxy(options: OwnProxyOptions): Promise<OwnProxy> {
  const stop = new AbortController();
  try {
    const running = await start(options, stop.signal);
    return {
      address: new URL(`http://${running.facts['address']}`),
      async close() {
        stop.abort();
        await running.closed;
      },
    };
  } catch (cause) {
    throw new NotEvaluated(`The proxy does not start: ${fullMessageOf(cause)}`, undefined, cause);
  }
}

async function start(
  { component, flags, env, version }: OwnProxyOptions,
  signal: AbortSignal,
): Promise<Running> {
  const given = { ...flags, listen: '127.0.0.1:0', health: '', workers: '1' };
  const config = resolveSettings(component.settings, { flags: given, env }, component.check?.bind(component));
  const metrics = await createMetrics({ version, component: component.name });
  return component.start(config, { log: quiet, health: createHealth(), metrics, env }, signal);
}

/** Logs nothing: the checks report failures. */
export const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quiet,
};
