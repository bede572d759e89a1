import { S3Error } from '../../../core/s3/error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { reasonOf, unavailable } from './failures.ts';
import type { UpstreamRequest, UpstreamResponse } from './upstream.ts';
import type { Wire } from './wire.ts';

/** Puts a failure of the wire into S3's words and logs it once. */
export type Report = (error: unknown) => unknown;

export function reporter(log: Logger, { method, signal }: UpstreamRequest): Report {
  return (error) => {
    if (signal?.aborted) return signal.reason;
    if (!(error instanceof S3Error)) log.warn('upstream.failed', { method, error: reasonOf(error) });
    return unavailable(error);
  };
}

const redirects = new Set([301, 302, 303, 305, 307, 308]);

/** The store's answer. @throws what `report` makes of a failure; S3Error 500 for a redirect */
export async function received(wire: Wire, report: Report): Promise<UpstreamResponse> {
  const body = await wire.response.catch((error) => {
    throw report(error);
  });
  const status = body.statusCode ?? 0;
  if (redirects.has(status)) throw refuseRedirect(wire, status, body.headers['x-amz-bucket-region']);
  return { status, headers: body.headers, body };
}

function refuseRedirect(wire: Wire, status: number, region: string | string[] | undefined): S3Error {
  wire.reset(new Error('a redirect is not followed'));
  const place = typeof region === 'string' && /^[a-z0-9-]{1,40}$/.test(region) ? ` (region ${region})` : '';
  const message = `The object store redirects to another endpoint${place}: the proxy's upstream or region must be set to it.`;
  return new S3Error('InternalError', 500, message, { details: { UpstreamStatus: String(status) } });
}
