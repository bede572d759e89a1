import type { ProxyConfig } from '../config.ts';
import type { CredentialSource } from '../upstream/credentials.ts';
import type { BucketFacts } from './bucket-facts.ts';

export interface StateParts {
  readonly config: Pick<ProxyConfig, 'upstream' | 'region' | 'stateBucket' | 'reservedPrefix'>;
  readonly credentials: CredentialSource;
  readonly buckets: BucketFacts;
  /** PEM certificates to trust in place of Node's own. */
  readonly ca?: string | undefined;
}
