import type { ComponentDeps } from '../../runtime/component/contract.ts';
import { defaultCredentials } from '../../runtime/object-store/credentials.ts';
import { trustedAuthorities } from '../../runtime/object-store/settings.ts';
import type { Transit } from '../../runtime/vault/contract.ts';
import type { ProxyConfig } from './config.ts';
import type { ProxyServices } from './context.ts';
import { createDataKeys } from './data-keys.ts';
import type { ProxyMetrics } from './metrics.ts';
import { createManifests } from './multipart/manifest-store.ts';
import { Uploads } from './multipart/uploads.ts';
import { SpoolSpace } from './read/body/spool-file.ts';
import { createObjectReader } from './read/create-object-reader.ts';
import { createBucketFacts } from './state/bucket-facts.ts';
import { DelayedRemovals } from './state/state-store.ts';
import { UpstreamStateStore } from './state/upstream-state-store.ts';
import { createUpstream, type UpstreamParts } from './upstream/s3-upstream.ts';

/** Helper objects have connections of their own: requests that hold one to the store wait for them. */
const helperLimits = { sockets: 32, idleMs: 20_000 };

export interface ContextParts {
  readonly config: ProxyConfig;
  readonly transit: Transit;
  readonly metrics: ProxyMetrics;
  readonly log: ComponentDeps['log'];
  readonly env: ComponentDeps['env'];
}

export interface OwnedContext extends ProxyServices {
  /** How requests to the store are signed, and whom to trust there. */
  readonly trust: Pick<UpstreamParts, 'credentials' | 'ca'>;
  /** Gives back connections, memory and disk. */
  close(): void;
}

/** Puts the rooms of one proxy process together. @throws SvcError when AWS_CA_BUNDLE cannot be read */
export function createContext({ config, transit, metrics, log, env }: ContextParts): OwnedContext {
  const credentials = defaultCredentials(env, log);
  const ca = trustedAuthorities(env);
  const upstream = createUpstream(config, log, { credentials, ca });
  const buckets = createBucketFacts(upstream);
  const helpers = createUpstream(config, log, { credentials, ca, limits: helperLimits });
  const { reservedPrefix } = config;
  const state = new UpstreamStateStore({ config, upstream: helpers, buckets });
  const beside = { stateBucket: undefined, reservedPrefix };
  const contents = new UpstreamStateStore({ config: beside, upstream: helpers, buckets });
  const removals = new DelayedRemovals(state, log);
  const keys = createDataKeys(transit, config);
  const manifests = createManifests({ state, keys, reservedPrefix, removals });
  const uploads = new Uploads(state, reservedPrefix, keys, removals);
  const spoolSpace = new SpoolSpace(config.spoolSize);
  const stores = { upstream, state, contents, buckets };
  const shared = { config, log, metrics, keys, ...stores, manifests, uploads, spoolSpace };
  const reader = createObjectReader(shared);
  const close = () => {
    reader.close();
    removals.close();
    state.close();
    upstream.close();
  };
  return { ...shared, reader, trust: { credentials, ca }, close };
}
