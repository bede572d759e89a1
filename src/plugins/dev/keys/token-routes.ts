import { DurationError, parseDuration } from '../../../core/duration.ts';
import type { KeyAnswer, KeyRequest, KeyServerState } from './exchange.ts';
import { noSuchPath, Refusal } from './refusal.ts';
import { remainingSeconds, type Token } from './tokens.ts';

/** Hands tokens out, renews them, tells about them. @throws Refusal */
export function answerToken(
  { tokens }: KeyServerState,
  { method, path, body, token }: KeyRequest,
): KeyAnswer {
  switch (`${method === 'PUT' ? 'POST' : method} ${path}`) {
    case 'GET auth/token/lookup-self':
      return { status: 200, body: { data: lookedUp(token) } };
    case 'POST auth/token/renew-self':
      return granted(tokens.renew(token, seconds(body['increment'])));
    case 'POST auth/token/create': {
      const { policies, ttl, renewable } = body;
      return granted(tokens.create(policyNames(policies), seconds(ttl), renewable !== false));
    }
    case 'POST auth/token/revoke':
      tokens.revoke(String(body['token'] ?? ''));
      return { status: 204 };
    default:
      throw noSuchPath();
  }
}

function policyNames(value: unknown): string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  throw new Refusal(400, 'policies must be a list of names');
}

/** Seconds as a number or its digits, or a Go duration; undefined where nothing is asked for. */
function seconds(value: unknown): number | undefined {
  const text = String(value ?? '');
  const span = /^\d+$/.test(text) ? Number(text) : text === '' ? 0 : Math.floor(duration(text) / 1000);
  return span > 0 ? span : undefined;
}

function duration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof DurationError) throw new Refusal(400, 'time: invalid duration');
    throw error;
  }
}

const shown = ({ policies }: Token) => ({ policies: policies ?? ['root'] });

function lookedUp(token: Token) {
  const { id, lease } = token;
  return {
    ...shown(token),
    id,
    ttl: remainingSeconds(token) ?? 0,
    creation_ttl: lease?.seconds ?? 0,
    expire_time: lease ? new Date(lease.endsAt).toISOString() : null,
    renewable: lease?.renewable ?? false,
  };
}

function granted(token: Token): KeyAnswer {
  const { id, lease } = token;
  const lasts = { lease_duration: remainingSeconds(token) ?? 0, renewable: lease?.renewable ?? false };
  return { status: 200, body: { auth: { ...shown(token), client_token: id, ...lasts } } };
}
