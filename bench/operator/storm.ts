import { Agent, request } from 'node:https';
import type { Replica } from '../../test/support/operator-cluster.ts';
import { mutatePath, reviewOf } from './webhook-caller.ts';

/** What became of reviews that were posted at the same moment, each over a connection of its own. */
export interface Storm {
  readonly answered: number;
  /** Turned away, or broken off. */
  readonly others: number;
  readonly seconds: number;
}

/** As more API servers than a cluster has would do, none of them waiting for another. */
export async function storm({ started }: Replica, pod: object, count: number): Promise<Storm> {
  const url = `https://${started['webhook']}${mutatePath}`;
  const body = reviewOf(pod, 'default');
  const agent = new Agent({ rejectUnauthorized: false, maxSockets: count });
  const began = performance.now();
  const all = await Promise.all(Array.from({ length: count }, () => isAnswered(url, agent, body)));
  agent.destroy();
  const answered = all.filter(Boolean).length;
  return { answered, others: count - answered, seconds: (performance.now() - began) / 1_000 };
}

function isAnswered(url: string, agent: Agent, body: string): Promise<boolean> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve) => {
    request(url, { agent, method: 'POST', headers }, (answer) => {
      answer
        .resume()
        .once('end', () => resolve(answer.statusCode === 200))
        .once('error', () => resolve(false));
    })
      .once('error', () => resolve(false))
      .end(body);
  });
}
