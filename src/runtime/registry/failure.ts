import { RegistryError, type RegistryErrorCode } from './errors.ts';
import type { WireAnswer } from './wire.ts';

/** What registries answer with, and no other servers. Source: https://github.com/opencontainers/distribution-spec */
export function isFromRegistry({ headers, body }: WireAnswer): boolean {
  return (
    headers['docker-distribution-api-version'] !== undefined ||
    headers['docker-content-digest'] !== undefined ||
    ownCodes.test(body.subarray(0, 4_096).toString('latin1'))
  );
}

const ownCodes =
  /"code"\s*:\s*"(MANIFEST_(UNKNOWN|INVALID|UNVERIFIED|BLOB_UNKNOWN)|NAME_(UNKNOWN|INVALID)|BLOB_UNKNOWN|TOOMANYREQUESTS)"/;

const codes: Readonly<Record<number, RegistryErrorCode>> = {
  401: 'REGISTRY_DENIED',
  403: 'REGISTRY_DENIED',
  404: 'REGISTRY_MISSING',
  408: 'REGISTRY_UNAVAILABLE',
  429: 'REGISTRY_UNAVAILABLE',
};

/** The error that an answer which is no success amounts to; of its body only a code in capitals is told. */
export function failureOf(host: string, answer: WireAnswer): RegistryError {
  const { status, headers, body } = answer;
  const code = codes[status] ?? (status >= 500 ? 'REGISTRY_UNAVAILABLE' : 'REGISTRY_REFUSED');
  const named = /"code"\s*:\s*"([A-Z_]{3,40})"/.exec(body.toString('latin1'))?.[1];
  const message = `${host} answers ${status}${named === undefined ? '' : ` ${named}`}`;
  const retryAfterMs = waitOf(headers['retry-after']);
  return new RegistryError(code, message, { retryAfterMs, told: isFromRegistry(answer) });
}

/** Seconds, or a date. */
function waitOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms > 0 ? ms : undefined;
}
