import type http from 'node:http';
import type { Socket } from 'node:net';

type Connect = (...parameters: Parameters<http.Agent['createConnection']>) => Socket;

const ignored = (): void => undefined;

/**
 * Node takes its own listener off a kept connection as an answer ends. A request that is aborted in that moment, while
 * its last bytes are read, destroys the connection with an error that nobody then listens to, and the process would end.
 */
export function outliveAborts<T extends http.Agent>(agent: T): T {
  const connect = agent.createConnection.bind(agent) as Connect;
  agent.createConnection = (options, callback) => connect(options, callback).on('error', ignored);
  return agent;
}
