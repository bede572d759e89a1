import type { HealthSource } from './health-source.ts';

/** What a health server answers, whatever speaks HTTP for it. */
export interface HealthAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Page = (source: HealthSource) => Promise<HealthAnswer> | HealthAnswer;

const pages: Readonly<Record<string, Page>> = {
  /** Alive: 200 while the process serves; 503 before a component that has to begin first has begun. */
  '/healthz': alive,
  /** Ready: 200 while every condition is met, else 503 with the reasons. */
  '/readyz': ready,
  /** Metrics in the text form of Prometheus. */
  '/metrics': metrics,
};

/** Answers one request; never rejects. A HEAD request gets the body's length and not the body, which the caller sees to. */
export async function healthPage(
  method: string,
  target: string,
  source: HealthSource,
): Promise<HealthAnswer> {
  try {
    return await pageFor(method, target, source);
  } catch {
    return json(500, { error: 'metrics cannot be gathered' });
  }
}

async function pageFor(method: string, target: string, source: HealthSource): Promise<HealthAnswer> {
  const path = target.split('?', 1)[0] ?? '';
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page === undefined) return json(404, { error: 'not found' });
  if (method !== 'GET' && method !== 'HEAD') {
    return json(405, { error: 'method not allowed' }, { allow: 'GET, HEAD' });
  }
  return page(source);
}

/** Stays 200 while the process serves: a probe must not kill what merely waits for another server. */
function alive(source: HealthSource): HealthAnswer {
  const { status, degraded, notAlive } = source.snapshot();
  if (Object.keys(notAlive).length > 0) return json(503, { status: 'starting', reasons: notAlive });
  return json(200, status === 'ok' ? { status } : { status, degraded });
}

function ready(source: HealthSource): HealthAnswer {
  const { ready, notReady, facts } = source.snapshot();
  const reason = ready ? {} : { reason: Object.values(notReady).join(' ') };
  const told = Object.keys(facts).length > 0 ? { ready, ...facts, ...reason } : {};
  return ready
    ? json(200, { status: 'ready', ...told })
    : json(503, { status: 'not ready', ...told, reasons: notReady });
}

async function metrics(source: HealthSource): Promise<HealthAnswer> {
  const { contentType, body } = await source.expose();
  return answer(200, contentType, body);
}

function json(status: number, body: object, more: Readonly<Record<string, string>> = {}): HealthAnswer {
  return answer(status, 'application/json', `${JSON.stringify(body)}\n`, more);
}

function answer(
  status: number,
  contentType: string,
  body: string,
  more: Readonly<Record<string, string>> = {},
): HealthAnswer {
  const headers = {
    'content-type': contentType,
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    ...more,
  };
  return { status, headers, body };
}
