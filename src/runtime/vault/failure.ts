import {
  mayRetryStatus,
  namesExpiredVersion,
  namesMissingKey,
  serverErrors,
  summarize,
} from '../../core/vault/answer.ts';
import { secrets } from '../logging/secrets.ts';
import type { VaultFailure, VaultRequest, VaultResponse } from './contract.ts';
import { VaultError } from './errors.ts';

/** What the key server said, on one line, without any registered secret. */
export const serverReason = (body: unknown): string => plainText(...serverErrors(body));

export const plainText = (...errors: readonly string[]): string => secrets.redact(summarize(errors));

/** The error for an answer that is no success. */
export function failureOf(request: VaultRequest, { status, body }: VaultResponse): VaultError {
  const { path } = request;
  const reason = serverReason(body);
  const kind = failureKind(status, reason);
  if (kind === 'denied') return refusedPath(request, status);
  const said = reason === '' ? '' : `: ${reason}`;
  return new VaultError(kind, `The key server answered ${status} to ${path}${said}`, { status, path });
}

export function failureKind(status: number, reason: string): VaultFailure {
  if (status === 403) return 'denied';
  if (status === 404 || namesMissingKey(reason)) return 'not-found';
  if (namesExpiredVersion(reason)) return 'expired-version';
  return mayRetryStatus(status) ? 'unavailable' : 'rejected';
}

const capabilities = { GET: 'read', LIST: 'list', POST: 'update', PUT: 'update', DELETE: 'delete' } as const;

function refusedPath({ method, path }: VaultRequest, status: number): VaultError {
  const capability = capabilities[method];
  return new VaultError('denied', `The key server refuses ${capability} on ${path}`, {
    status,
    path,
    nextStep: `Grant the capability "${capability}" on ${path} in a policy of this token or role, and check that the path exists.`,
  });
}
