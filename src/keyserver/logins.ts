import { namesPolicy } from './answers.ts';
import {
  type Answered,
  failureOf,
  LoginRefused,
  plainText,
  refusalOf,
  VaultError,
  type VaultRequest,
} from './contract.ts';
import { vaultPath } from './path.ts';

/* Requests for a login, a lookup and a renewal, and the meaning of the key server's answers. */

export const lookUpRequest = { method: 'GET', path: 'auth/token/lookup-self' } as const;
export const renewRequest = { method: 'POST', path: 'auth/token/renew-self' } as const;

/** @param mountPath such as `auth/kubernetes` */
export const loginRequest = (mountPath: string) =>
  ({ method: 'POST', path: vaultPath(mountPath, 'login') }) as const satisfies VaultRequest;

/** Lifetime of a token. */
export interface TokenLease {
  /** 0 if the token has no end; undefined if it may not look itself up. */
  readonly leaseSeconds: number | undefined;
  /** Whether a renewal may work; true if unknown. */
  readonly renewable: boolean;
}

export interface RenewedLease extends TokenLease {
  readonly leaseSeconds: number;
}

/** Reads single members of an answer, none of which are secret; `JsonView` does so on bytes. */
export interface AnswerFields {
  string(...names: readonly string[]): string | undefined;
  number(...names: readonly string[]): number | undefined;
  isTrue(...names: readonly string[]): boolean;
}

export interface LoginAnswer {
  readonly answer: Answered;
  /** Called only for a 200. */
  readonly fields: () => AnswerFields;
  /** The key server's error messages without secrets; called for any other status. */
  readonly errors: () => readonly string[];
}

/**
 * The lease of a token that was looked up. If a policy forbids that, its end stays unknown until a renewal.
 * @throws VaultError of kind `denied` if the key server does not know the token
 */
export function lookedUp({ answer, fields, errors }: LoginAnswer): TokenLease {
  const { status } = answer;
  if (status === 200) return lifetime(fields());
  const said = errors();
  if (status === 403 && namesPolicy(said)) return { leaseSeconds: undefined, renewable: true };
  throw refusalOf(lookUpRequest, answer, said);
}

/** `ttl` is in whole seconds; a token without an end has 0, and no `expire_time`. */
function lifetime(fields: AnswerFields): RenewedLease {
  const seconds = bounded(fields.number('data', 'ttl') ?? 0);
  const ends = fields.string('data', 'expire_time') !== undefined;
  return {
    leaseSeconds: ends ? Math.max(1, seconds) : seconds,
    renewable: fields.isTrue('data', 'renewable'),
  };
}

/** The lease of a token from a login or renewal. @throws VaultError if the answer has none */
export function grantedLease(fields: AnswerFields, path: string): RenewedLease {
  const leaseSeconds = fields.number('auth', 'lease_duration');
  if (leaseSeconds === undefined) throw withoutToken(path);
  return { leaseSeconds: bounded(leaseSeconds), renewable: fields.isTrue('auth', 'renewable') };
}

/** A century: longer or invalid durations are a server's mistake, and exceed what timers can count. */
const mostSeconds = 3_155_760_000;

const bounded = (seconds: number): number => Math.min(Math.max(0, seconds), mostSeconds);

export const withoutToken = (path: string): VaultError =>
  new VaultError('unavailable', `The key server answered ${path} without a token`, { path });

/** Whether a renewal gained enough: near a token's maximum TTL renewals gain less and less, and a login is due. */
export const gainsEnough = (renewedSeconds: number, fullSeconds: number): boolean =>
  renewedSeconds >= fullSeconds / 2;

/** An unknown role gives a 400, a foreign service account a 403, a missing mount a 403 or 404. */
export function loginRefusal(
  path: string,
  role: string,
  { status, retryAfterMs }: Answered,
  errors: readonly string[],
): VaultError {
  const failure = failureOf({ method: 'POST', path }, { status, retryAfterMs, body: { errors } });
  if (failure.kind === 'unavailable') return failure;
  const message = `The key server refuses the login at ${path} as role ${role}: ${plainText(...errors)}`;
  const check =
    'Check VAULT_AUTH_ROLE and VAULT_AUTH_MOUNT_PATH, and that the role is bound to this service account';
  if (status !== 403) return new VaultError('denied', message, { status, path, nextStep: `${check}.` });
  return new LoginRefused(message, {
    ...{ status, path },
    nextStep: `${check}; and that the key server can ask the API server of the cluster about it (TokenReview).`,
  });
}
