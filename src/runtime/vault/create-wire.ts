import { createAgent } from './agent.ts';
import type { VaultConnection } from './connection.ts';
import { Exchange } from './exchange.ts';
import type { Wire } from './wire.ts';

/** @throws SvcError (exit 78) where TLS files cannot be used. */
export function createWire(connection: VaultConnection): Wire {
  const agent = createAgent(connection);
  return {
    exchange: (request) =>
      new Promise((resolve, reject) => {
        new Exchange(request, agent, connection.maxAnswerBytes, resolve, reject).begin();
      }),
    close: () => agent.destroy(),
  };
}
