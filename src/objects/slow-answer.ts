import { setTimeout as delay } from 'node:timers/promises';
import type { ObjectServices, RequestContext } from './context.ts';
import { faultOf, reportFault } from './fault.ts';
import { errorXml } from './s3/error.ts';

/** A result without XML declaration, and headers that are sent if it is ready in time. */
export interface SlowResponse {
  readonly headers: Readonly<Record<string, string>>;
  readonly xml: string;
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/**
 * Answers an operation that may take longer than clients wait, like S3: after `patienceMs` a 200 begins with white
 * space, and the result or an `<Error>` follows. An earlier failure is thrown and gets its own status.
 */
export async function respondSlowly(
  { metrics }: Pick<ObjectServices, 'metrics'>,
  context: RequestContext,
  result: Promise<SlowResponse>,
  patienceMs = 5000,
): Promise<void> {
  const { answer } = context;
  const early = await inTime(result, patienceMs);
  if (early !== undefined) {
    answer.head(200, { 'content-type': 'application/xml', ...early.headers });
    return answer.end(declaration + early.xml);
  }
  answer.head(200, { 'content-type': 'application/xml' });
  await answer.write(Buffer.from(declaration));
  const late = result.then(
    ({ xml }) => xml,
    (error: unknown) => lateError(metrics, context, error),
  );
  for (;;) {
    const xml = await inTime(late, patienceMs);
    if (xml !== undefined) return answer.end(xml);
    await answer.write(Buffer.from(' '));
  }
}

async function inTime<T>(result: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const patience = new AbortController();
  try {
    return await Promise.race([result, delay(milliseconds, undefined, { signal: patience.signal })]);
  } finally {
    patience.abort();
  }
}

/** A failure after the head was sent shows nowhere else. */
function lateError(
  metrics: ObjectServices['metrics'],
  { request, log }: RequestContext,
  error: unknown,
): string {
  const answered = faultOf(error);
  reportFault(error, log, metrics, request);
  log.warn('proxy.answer.late-error', { code: answered.code, error: answered.message });
  return errorXml(answered, { resource: `/${request.bucket}/${request.key}`, requestId: request.id }).replace(
    /^<\?xml[^>]*>\s*/,
    '',
  );
}
