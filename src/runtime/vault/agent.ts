import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { VaultConnection } from './connection.ts';
import { TlsContext } from './tls-context.ts';

/** Idle connections are closed after this time, so that changed certificates come into use, in ms. */
const idleMs = 30_000;

type Connector = (...parameters: Parameters<http.Agent['createConnection']>) => Socket;

/**
 * A bounded pool of kept connections, with a bound on the time that connecting takes.
 * Proxy variables of the environment are not read.
 */
export function createAgent(connection: VaultConnection): http.Agent {
  const options = {
    keepAlive: true,
    maxSockets: connection.maxSockets,
    scheduling: 'lifo',
    timeout: idleMs,
  } as const;
  const agent =
    connection.address.protocol === 'https:'
      ? new https.Agent({ ...options, maxCachedSessions: 0, rejectUnauthorized: !connection.skipVerify })
      : new http.Agent(options);
  const connect = agent.createConnection.bind(agent) as Connector;
  const tls = agent instanceof https.Agent ? new TlsContext(connection.tls) : undefined;
  agent.createConnection = (target, callback) => {
    const secured = tls === undefined ? target : { ...target, secureContext: tls.current() };
    return boundConnecting(connect(secured, callback), tls !== undefined, connection.connectTimeoutMs);
  };
  return agent;
}

function boundConnecting(socket: Socket, encrypted: boolean, timeoutMs: number): Socket {
  const giveUp = () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`));
  const timer = setTimeout(giveUp, timeoutMs);
  const settled = () => clearTimeout(timer);
  socket.once(encrypted ? 'secureConnect' : 'connect', settled);
  socket.once('close', settled);
  return socket;
}
