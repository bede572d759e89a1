import type { VaultResponse } from '../../../runtime/vault/contract.ts';
import { failureOf } from '../../../runtime/vault/failure.ts';
import { NotEvaluated } from '../not-evaluated.ts';
import type { VaultQuery, VaultSession } from './contract.ts';

const capabilities = { GET: 'read', LIST: 'list', POST: 'update', PUT: 'update', DELETE: 'delete' } as const;

/**
 * Answers a success or a 404.
 * @throws NotEvaluated naming the capability that is missing; VaultError for what else is no success
 */
export async function ask(
  session: VaultSession,
  query: VaultQuery,
  signal: AbortSignal,
): Promise<VaultResponse> {
  const answer = await session.ask(query, signal);
  if (answer.status === 404 || answer.status < 300) return answer;
  const failure = failureOf(query, answer);
  if (failure.kind !== 'denied') throw failure;
  const permission = `${capabilities[query.method]} on ${query.path}`;
  throw new NotEvaluated(
    'The secrets server does not let this be looked at; workloads must not have that capability: name a token that has it with --auditor-token-file.',
    permission,
    failure,
  );
}
