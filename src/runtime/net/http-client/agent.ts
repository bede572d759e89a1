import http from 'node:http';
import https, { type AgentOptions } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { GatedHttpsAgent } from '../tls-record-gate.ts';

/** What is asked for each new connection. */
export interface ConnectionRules {
  /** How its host is looked up; undefined: by the system; an Error refuses the host. Default: by the system. */
  readonly lookup?: (host: string, port: string) => LookupFunction | Error | undefined;
  /** For TLS files that change. Default: what the agent's options say. */
  readonly secureContext?: (() => SecureContext) | undefined;
  /** Milliseconds until TCP and TLS are established. Default: those of the whole request. */
  readonly connectTimeoutMs?: number;
  /** For servers that anybody may name; see `GatedHttpsAgent`. Default: false */
  readonly boundsTlsRecords?: boolean;
}

type Created = (error: Error | null, socket: Socket | undefined) => void;
type Connect = (target: http.ClientRequestArgs, created?: Created) => Socket;

/**
 * An agent of `node:http` or `node:https` that ignores proxy variables of the environment.
 * @param protocol of the URLs of its requests: `https:`, or any other for no TLS
 */
export function createAgent(
  protocol: string,
  options: AgentOptions,
  { lookup, secureContext, connectTimeoutMs, boundsTlsRecords = false }: ConnectionRules = {},
): http.Agent {
  const Tls = boundsTlsRecords ? GatedHttpsAgent : https.Agent;
  const agent = protocol === 'https:' ? new Tls(options) : new http.Agent(options);
  const connect = agent.createConnection.bind(agent) as Connect;
  const connectBounded = (target: http.ClientRequestArgs, created: Created) => {
    const found = lookup?.(target.host ?? 'localhost', String(target.port));
    // a throw would end the process if the request had waited for another one
    if (found instanceof Error) return void created(found, undefined);
    const secured = secureContext && { secureContext: secureContext() };
    const socket = connect({ ...target, ...(found && { lookup: found }), ...secured }, created);
    // Node removes its own from a kept connection when a response ends; a request that is aborted at that moment would
    // destroy the connection with an unhandled error, which ends the process
    socket.on('error', ignored);
    if (connectTimeoutMs !== undefined) limitConnecting(socket, protocol === 'https:', connectTimeoutMs);
    return socket;
  };
  agent.createConnection = connectBounded as typeof agent.createConnection;
  return agent;
}

function limitConnecting(socket: Socket, isTls: boolean, timeoutMs: number): void {
  const giveUp = () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`));
  const timer = setTimeout(giveUp, timeoutMs);
  const settled = () => clearTimeout(timer);
  socket.once(isTls ? 'secureConnect' : 'connect', settled).once('close', settled);
}

const ignored = (): void => undefined;
