import type { Component } from '../../../runtime/component/contract.ts';
import { defaultCredentials } from '../../../runtime/object-store/credentials.ts';
import { storeClient } from '../../../runtime/object-store/s3-client.ts';
import { type StoreAddress, storeOf } from '../../../runtime/object-store/settings.ts';
import { trustedAuthorities } from '../../../runtime/object-store/trust.ts';
import type { ValidateCall } from '../call.ts';
import type { ValidateConfig } from '../settings.ts';
import { bucketFacts } from './bucket-facts.ts';
import type { S3Endpoint, StoreAccess } from './contract.ts';
import { s3Endpoint } from './endpoint.ts';
import { type OwnProxy, startOwnProxy } from './own-proxy.ts';
import { quiet } from './quiet.ts';

export interface OpenStore extends StoreAccess {
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  readonly config: ValidateConfig;
  readonly bucket: string;
  readonly call: Pick<ValidateCall, 'env' | 'given' | 'proxy' | 'version'>;
}

/** @throws SvcError where AWS_CA_BUNDLE cannot be read */
export function openStore({ config, bucket, call }: OpenStoreOptions): OpenStore {
  const { env } = call;
  const address = storeOf(config);
  const ca = trustedAuthorities(env);
  const client = storeClient({ address, credentials: defaultCredentials(env, quiet), ca });
  const proxied = proxyRoad(address, { config, bucket, call }, ca);
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

interface Road {
  readonly endpoint: () => Promise<S3Endpoint>;
  readonly close: () => Promise<void>;
}

/** Opened when it is first asked for: a proxy is not started in vain. */
function proxyRoad(store: StoreAddress, options: OpenStoreOptions, ca: string | undefined): Road {
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

/** Flags of ours that are flags of the proxy, too, such as the transit key. */
function knownTo({ settings }: Component, given: ValidateCall['given']): ValidateCall['given'] {
  const flags = new Set(Object.values(settings).map(({ flag }) => flag));
  return Object.fromEntries(Object.entries(given).filter(([name]) => flags.has(name)));
}

/** A proxy that asks for no key takes any. */
function callerKeys({ proxyAccessKeyId, proxySecretAccessKey }: ValidateConfig) {
  return {
    accessKeyId: proxyAccessKeyId ?? 'svc-validate',
    secretAccessKey: proxySecretAccessKey ?? 'not-asked-for',
  };
}
