import type { ProxyContext } from '../context.ts';

/** What reading takes of a proxy process. */
export type ReaderParts = Pick<
  ProxyContext,
  'config' | 'keys' | 'upstream' | 'manifests' | 'metrics' | 'spoolSpace'
>;
