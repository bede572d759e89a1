import type { KeyAnswer, KeyRequest, KeyServerState, UnauthorizedRequest } from './exchange.ts';
import { answerKv, isNewSecret } from './kv/kv-routes.ts';
import { isBelowKv } from './kv/kv-store.ts';
import { answerMountLookup, isMountLookup } from './mount-lookup.ts';
import { type Capability, capabilityFor } from './policy.ts';
import { answerSystem } from './system-routes.ts';
import { answerToken } from './token-routes.ts';
import { answerTransit } from './transit-routes.ts';

/** Answers the request if the token may make it. @throws Refusal */
export function answerKeyRequest(
  state: KeyServerState,
  tokenId: string | undefined,
  asked: UnauthorizedRequest,
): KeyAnswer {
  const request = { ...asked, token: state.tokens.known(tokenId) };
  if (isMountLookup(request)) return answerMountLookup(state, request);
  state.tokens.authorize(request.token, neededFor(state, request), request.path);
  return handlerOf(request.path)(state, request);
}

function handlerOf(path: string): (state: KeyServerState, request: KeyRequest) => KeyAnswer {
  if (path.startsWith('sys/')) return answerSystem;
  if (path.startsWith('auth/token/')) return answerToken;
  return isBelowKv(path) ? answerKv : answerTransit;
}

function neededFor({ secrets }: KeyServerState, request: KeyRequest): Capability | undefined {
  const capability = capabilityFor(request.method);
  if (capability === 'read' && request.query.get('list') === 'true') return 'list';
  return capability === 'update' && isNewSecret(secrets, request.path) ? 'create' : capability;
}
