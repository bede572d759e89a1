import type { LoggedRequest, RequestLog } from '../../support/types.ts';

/** How many requests of each kind, in the order in which the kinds came up. */
export type Kinds = ReadonlyMap<string, number>;

/** Sums up what a relay has seen since the last time. */
export function takeKinds(log: RequestLog, kindOf: (request: LoggedRequest) => string): Kinds {
  const kinds = new Map<string, number>();
  for (const request of log.requests) {
    const kind = kindOf(request);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return kinds;
}

/** Requests to the key server. */
export const keyServerKind = ({ method, path }: LoggedRequest): string =>
  `${method} ${path.replace('/v1/', '')}`;

/** Requests to the store: what they do, and to which kind of object. */
export function storeKind({ method, path }: LoggedRequest): string {
  const { pathname, searchParams: query } = new URL(path, 'http://store');
  if (query.has('list-type')) return 'list records';
  if (query.has('delete')) return 'delete many';
  if (query.has('partNumber') && method === 'PUT') return 'upload part';
  if (query.has('uploadId')) return method === 'GET' ? 'list parts' : 'complete';
  if (query.has('uploads')) return 'create upload';
  return `${method} ${targetOf(pathname)}`;
}

function targetOf(pathname: string): string {
  if (pathname.includes('/.svc/manifests/')) return 'manifest';
  if (pathname.includes('/.svc/')) return 'record';
  return 'object';
}
