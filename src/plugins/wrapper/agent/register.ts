import { type AgentCallOptions, callAgent } from './call-agent.ts';
import { agentError, notEnforcing } from './failures.ts';
import {
  type Acknowledgement,
  decodeAcknowledgement,
  encodeRegistration,
  type Registration,
} from './messages.ts';

/**
 * Puts this process and its later descendants under the node agent's protection. To be called before any secret is
 * fetched; an agent that is away or not ready is waited for.
 * @throws SvcError AGENT_UNAVAILABLE or AGENT_INCOMPATIBLE (exit 69; where neither the agent nor its enforcement is
 * required, the caller may log it and go on), AGENT_REFUSED (77), AGENT_POD_UNKNOWN (78), AGENT_NOT_ENFORCING (71,
 * where enforcement is required); the signal's reason
 */
export async function registerWithAgent(
  registration: Registration,
  options: AgentCallOptions,
): Promise<Acknowledgement> {
  const answer = await callAgent('Register', encodeRegistration(registration), options);
  const acknowledgement = decoded(answer, options.socketPath);
  if (registration.requireEnforcement && !acknowledgement.enforcing) throw notEnforcing(acknowledgement);
  return acknowledgement;
}

function decoded(answer: Uint8Array, socketPath: string): Acknowledgement {
  try {
    return decodeAcknowledgement(answer);
  } catch (error) {
    throw agentError(error, socketPath);
  }
}
