import { RegistryError, type RegistryErrorCode } from './errors.ts';
import type { WireAnswer } from './wire.ts';

const codes: Readonly<Record<number, RegistryErrorCode>> = {
  401: 'REGISTRY_DENIED',
  403: 'REGISTRY_DENIED',
  404: 'REGISTRY_MISSING',
  408: 'REGISTRY_UNAVAILABLE',
  429: 'REGISTRY_UNAVAILABLE',
};

/** The error that an answer which is no success amounts to; of its body only a code in capitals is told. */
export function failureOf(host: string, { status, headers, body }: WireAnswer): RegistryError {
  const code = codes[status] ?? (status >= 500 ? 'REGISTRY_UNAVAILABLE' : 'REGISTRY_REFUSED');
  const told = /"code"\s*:\s*"([A-Z_]{3,40})"/.exec(body.toString('latin1'))?.[1];
  const message = `${host} answers ${status}${told === undefined ? '' : ` ${told}`}`;
  return new RegistryError(code, message, { retryAfterMs: waitOf(headers['retry-after']) });
}

/** Seconds, or a date. */
function waitOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms > 0 ? ms : undefined;
}
