import { get } from 'node:http';
import { isIPv6 } from 'node:net';
import { KubeError } from '../../../runtime/kube/errors.ts';
import { readBody } from '../../../runtime/kube/read-body.ts';
import type { CheckContext } from '../contract.ts';
import type { PodAnswer } from './pod-answer.ts';
import type { SeenPod } from './pods.ts';
import { asUnread, missingPermission } from './unread.ts';

const largest = 4 * 1024 * 1024;
const timeoutMs = 5_000;
const inCluster = 'service account';

/**
 * Asks a pod over HTTP: through the API server, but from within the cluster at its own address. Where policies are
 * enforced it may be reached by other pods alone.
 * @param path such as `readyz`
 * @throws NotEvaluated where that is not allowed
 */
export async function askPod(
  context: CheckContext,
  { namespace, name, address }: Pick<SeenPod, 'namespace' | 'name' | 'address'>,
  port: number,
  path: string,
): Promise<PodAnswer> {
  const client = await context.cluster();
  if (client.origin === inCluster && address !== undefined) {
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(timeoutMs)]);
    const answer = await askDirectly(address, port, path, signal);
    if (answer !== undefined) return answer;
  }
  const url = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}:${port}/proxy/${path}`;
  try {
    const request = { path: url, accept: '*/*', signal: context.signal, timeoutMs };
    const text = await client.read(request, (body) => readBody(`GET ${url}`, body, largest));
    return { kind: 'ok', text };
  } catch (error) {
    if (!(error instanceof KubeError) || context.signal.aborted) throw error;
    if (missingPermission(error) !== undefined) throw asUnread(error);
    return failed(error);
  }
}

function failed({ message, status }: KubeError): PodAnswer {
  const [, because] = /error trying to reach service: (.*)$/.exec(message) ?? [];
  if (because !== undefined || status === undefined) return { kind: 'silent', because: because ?? message };
  return { kind: 'refused', status };
}

/** Asks an address of the cluster's own network, where this process is in it. Undefined: nothing is reached there. */
function askDirectly(
  address: string,
  port: number,
  path: string,
  signal: AbortSignal,
): Promise<PodAnswer | undefined> {
  const host = isIPv6(address) ? `[${address}]` : address;
  return new Promise((resolve) => {
    const request = get(`http://${host}:${port}/${path}`, { signal, agent: false }, (response) => {
      const { statusCode: status = 0 } = response;
      const answer = (text: string): PodAnswer =>
        status === 200 ? { kind: 'ok', text } : { kind: 'refused', status };
      readBody(path, response, largest).then(
        (text) => resolve(answer(text)),
        () => resolve(undefined),
      );
    });
    request.on('error', () => resolve(undefined));
  });
}
