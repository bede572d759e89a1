import { ownerOf } from './certificate-names.ts';
import type { Caller } from './grpc-endpoint.ts';
import type { NodeTokens } from './node-tokens.ts';
import { Refusal } from './refusal.ts';

/**
 * Lets an agent report for its own node: by a certificate that names it, or by the one that all agents have and the token
 * of its pod, so that a node that was taken cannot speak for another. A connection may outlive the certificate that opened it.
 * @throws Refusal
 */
export async function checkCaller(
  { names, expires, token, peer }: Caller,
  node: string,
  tokens: NodeTokens,
): Promise<void> {
  const owner = ownerOf(names, node);
  if (owner === undefined) throw new Refusal('PERMISSION_DENIED', `no certificate for ${node}`);
  if (!(expires.getTime() > Date.now()))
    throw new Refusal('PERMISSION_DENIED', 'the certificate has expired');
  if (owner === 'node') return;
  if (token === undefined)
    throw new Refusal(
      'UNAUTHENTICATED',
      'beside the certificate of all agents, a token of the pod is needed',
    );
  if ((await tokens.nodeOf(token, peer)) !== node)
    throw new Refusal('PERMISSION_DENIED', `the token is of another node than ${node}`);
}
