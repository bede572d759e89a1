import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HealthSource } from './health-source.ts';
import { healthPage } from './pages.ts';

/** Answers one request; never rejects. */
export async function answerHealth(request: IncomingMessage, response: ServerResponse, source: HealthSource) {
  const { method = 'GET', url = '' } = request;
  const { status, headers, body } = await healthPage(method, url, source);
  response.writeHead(status, headers);
  response.end(method === 'HEAD' ? undefined : body);
}
