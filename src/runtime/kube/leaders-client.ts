import type { KubeClient, KubeRequest } from './client.ts';
import type { Leadership } from './leadership.ts';

/**
 * A client that sends writes only while this replica leads. A process that stood still for longer than its lease goes on
 * with answers and timers that were due meanwhile, and hears of the end of its term only after some of them.
 */
export function leadersClient(client: KubeClient, leadership: Leadership): KubeClient {
  const leading = () => leadership.leading;
  const fenced = (request: KubeRequest): KubeRequest =>
    (request.method ?? 'GET') === 'GET' ? request : { ...request, leading };
  return {
    ...client,
    request: (request) => client.request(fenced(request)),
    read: (request, use) => client.read(fenced(request), use),
  };
}
