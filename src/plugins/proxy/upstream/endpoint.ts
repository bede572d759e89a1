import { upstreamPath } from '../../../core/s3/target.ts';

/** Where the store listens and how requests name it. */
export interface Endpoint {
  readonly secure: boolean;
  /** To connect to; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Value of the `Host` header: without the scheme's default port. */
  readonly authority: string;
  /** Encoded path of a request line, below the base path. */
  path(bucket: string, key: string): string;
}

export function endpointOf(upstream: URL): Endpoint {
  const secure = upstream.protocol === 'https:';
  const base = upstream.pathname.replace(/\/+$/, '');
  return {
    secure,
    host: upstream.hostname.replace(/^\[|\]$/g, ''),
    port: upstream.port === '' ? (secure ? 443 : 80) : Number(upstream.port),
    authority: upstream.host,
    path: (bucket, key) => base + upstreamPath(bucket, key),
  };
}
