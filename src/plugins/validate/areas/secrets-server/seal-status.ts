import { isRecord } from '../../../../core/vault/answer.ts';
import { failureOf } from '../../../../runtime/vault/failure.ts';
import { shared } from '../../shared.ts';

export interface SealStatus {
  readonly initialized: boolean;
  readonly sealed: boolean;
}

const query = { method: 'GET', path: 'sys/seal-status' } as const;

/** Everybody may ask for it, whatever state the server is in. @throws VaultError */
export const sealStatus = shared(async (context): Promise<SealStatus> => {
  const { anonymous } = await context.vault();
  const answer = await anonymous.ask(query, context.signal);
  if (answer.status !== 200 || !isRecord(answer.body)) throw failureOf(query, answer);
  const { initialized, sealed } = answer.body;
  return { initialized: initialized === true, sealed: sealed !== false };
});
