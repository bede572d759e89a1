import { get } from 'node:http';
import { isIPv6 } from 'node:net';
import { readBody } from '../../../runtime/kube/read-body.ts';
import type { PodAnswer } from './pod-answer.ts';

const largest = 4 * 1024 * 1024;

/** Asks an address of the cluster's own network, where this process is in it. Undefined: nothing is reached there. */
export function askDirectly(
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
