import http, { type Agent } from 'node:http';
import https, { type AgentOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import { outliveAborts } from '../net/outlive-aborts.ts';

const keepAliveMs = 15_000;

/** Keeps connections for as long as what secures them stays the same. */
export interface AgentPool {
  agentFor(tls: AgentOptions): Agent;
  close(): void;
}

/** For one server; `protocol` is that of its URL. */
export function createAgentPool(protocol: string): AgentPool {
  let current: { readonly tls: AgentOptions; readonly agent: Agent } | undefined;
  return {
    agentFor(tls) {
      if (current === undefined || !isDeepStrictEqual(current.tls, tls)) {
        retire(current?.agent);
        current = { tls, agent: createAgent(protocol, tls) };
      }
      return current.agent;
    },
    close: () => current?.agent.destroy(),
  };
}

function createAgent(protocol: string, tls: AgentOptions): Agent {
  const options = { keepAlive: true, keepAliveMsecs: keepAliveMs };
  return outliveAborts(
    protocol === 'https:' ? new https.Agent({ ...options, ...tls }) : new http.Agent(options),
  );
}

/** Requests under way, a watch above all, may end as they would. */
function retire(agent: Agent | undefined): void {
  if (agent === undefined) return;
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}
