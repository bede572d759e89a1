import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HealthSource } from './health-source.ts';

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

type Page = (source: HealthSource) => Promise<Answer> | Answer;

const pages: Readonly<Record<string, Page>> = { '/healthz': alive, '/readyz': ready, '/metrics': metrics };

/** Answers one request; never rejects. */
export async function answerHealth(request: IncomingMessage, response: ServerResponse, source: HealthSource) {
  const answer = await answerTo(request, source).catch(() =>
    json(500, { error: 'metrics cannot be gathered' }),
  );
  response.writeHead(answer.status, {
    'content-type': answer.contentType,
    'content-length': Buffer.byteLength(answer.body),
    'cache-control': 'no-store',
    ...(answer.status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : answer.body);
}

async function answerTo({ method, url = '' }: IncomingMessage, source: HealthSource): Promise<Answer> {
  const path = url.split('?', 1)[0] ?? '';
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page === undefined) return json(404, { error: 'not found' });
  if (method !== 'GET' && method !== 'HEAD') return json(405, { error: 'method not allowed' });
  return page(source);
}

/** Stays 200 while the process serves: a probe must not kill what merely waits for another server. */
function alive(source: HealthSource): Answer {
  const { status, degraded } = source.snapshot();
  return json(200, status === 'ok' ? { status } : { status, degraded });
}

function ready(source: HealthSource): Answer {
  const { ready, notReady } = source.snapshot();
  return ready ? json(200, { status: 'ready' }) : json(503, { status: 'not ready', reasons: notReady });
}

async function metrics(source: HealthSource): Promise<Answer> {
  return { status: 200, ...(await source.expose()) };
}

function json(status: number, body: object): Answer {
  return { status, contentType: 'application/json', body: `${JSON.stringify(body)}\n` };
}
