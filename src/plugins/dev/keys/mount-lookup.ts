import type { KeyAnswer, KeyRequest, KeyServerState } from './exchange.ts';
import { isBelowKv, kvMount } from './kv/kv-store.ts';
import { Refusal } from './refusal.ts';

const lookup = 'sys/internal/ui/mounts/';

/** What a mount is, as `sys/mounts` and the lookup of a path have it. */
export const describedMount = {
  kv: { type: 'kv', options: { version: '2' } },
  transit: { type: 'transit', options: null },
} as const;

/** Asking what engine a path belongs to needs no right but one to anything in that engine. */
export const isMountLookup = ({ method, path }: Pick<KeyRequest, 'method' | 'path'>): boolean =>
  method === 'GET' && path.startsWith(lookup);

/** @throws Refusal 403 also for a mount that does not exist, so that nobody learns which do */
export function answerMountLookup(state: KeyServerState, { path, token }: KeyRequest): KeyAnswer {
  const asked = decodeURIComponent(path.slice(lookup.length)).replace(/\/*$/, '/');
  const mount = mountOf(state, asked);
  if (mount === undefined || !state.tokens.mayReach(token, mount)) throw refused(asked);
  const described = mount === kvMount ? describedMount.kv : describedMount.transit;
  return { status: 200, body: { data: { ...described, path: `${mount}/` } } };
}

function mountOf({ mounts }: KeyServerState, asked: string): string | undefined {
  if (isBelowKv(asked)) return kvMount;
  return mounts.names().find((name) => asked.startsWith(`${name}/`));
}

const refused = (asked: string): Refusal =>
  new Refusal(
    403,
    `preflight capability check returned 403, please ensure client's policies grant access to path "${asked}"`,
  );
