import { type ClientRequest, type Agent as HttpAgent, request as httpRequest } from 'node:http';
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createAgent } from './connections.ts';
import type { Endpoint } from './endpoint.ts';
import { HttpWire } from './http-wire.ts';
import type { WireLimits } from './limits.ts';
import type { WireHead, WireOpener } from './wire.ts';

/** Requests over `node:http` and `node:https`. `ca`: PEM certificates to trust in place of Node's own. */
export function httpWires(endpoint: Endpoint, limits: WireLimits, ca: string | undefined): WireOpener {
  const agent = createAgent(endpoint.secure, limits, ca);
  return {
    open: (head, signal) => {
      signal?.throwIfAborted();
      return new HttpWire(openRequest(endpoint, agent, head), limits, signal);
    },
    close: () => agent.destroy(),
  };
}

function openRequest(
  endpoint: Endpoint,
  agent: HttpAgent | HttpsAgent,
  { method, target, headers }: WireHead,
): ClientRequest {
  const { host, port } = endpoint;
  const options = { agent, host, port, method, path: target, headers, setHost: false };
  return endpoint.secure ? httpsRequest(options) : httpRequest(options);
}
