import { randomBytes } from 'node:crypto';
import { dataOf } from '../../../../core/vault/answer.ts';
import { vaultPath } from '../../../../core/vault/path.ts';
import { failureOf } from '../../../../runtime/vault/failure.ts';
import { failed, passed, skipped } from '../../results.ts';
import type { VaultQuery, VaultSession } from '../../vault/contract.ts';
import { forProxy } from './identity.ts';
import { vaultCheck } from './vault-check.ts';

export const roundTrip = vaultCheck(
  {
    id: 'SVC-VAULT-010',
    title: 'The transit key is there, and wraps and unwraps for the login',
    level: 'error',
    cause:
      'The engine is mounted elsewhere, the key has another name, or the policy does not permit encrypt and decrypt.',
    fix: 'Create the key (bao write -f transit/keys/svc), set SVC_TRANSIT_MOUNT and SVC_TRANSIT_KEY, and grant update on encrypt and decrypt of it.',
  },
  async (vault, { config }, signal) => {
    if (!forProxy(config)) return skipped('The identity is that of a wrapper, which uses no transit key.');
    const { transitMount, transitKey } = config;
    const session = await vault.workload();
    const plaintext = randomBytes(32).toString('base64');
    const post = (operation: string, body: object): VaultQuery => ({
      ...{ method: 'POST', path: vaultPath(transitMount, operation, transitKey), body },
    });
    const wrapped = await tried(session, post('encrypt', { plaintext }), 'ciphertext', signal);
    if (wrapped.value === undefined) return failed(findingOf(wrapped));
    const back = await tried(session, post('decrypt', { ciphertext: wrapped.value }), 'plaintext', signal);
    if (back.value === undefined) return failed(findingOf(back));
    if (back.value === plaintext) return passed();
    return failed({ subject: back.subject, message: 'It does not give back what was wrapped.' });
  },
);

interface Tried {
  readonly subject: string;
  readonly message: string;
  readonly value: string | undefined;
}

const findingOf = ({ subject, message }: Tried) => ({ subject, message });

/** What the key server refuses here is the finding. @throws VaultError where it is sealed or away */
async function tried(
  session: VaultSession,
  query: VaultQuery,
  member: string,
  signal: AbortSignal,
): Promise<Tried> {
  const answer = await session.ask(query, signal);
  const subject = query.path;
  if (answer.status >= 300) {
    const failure = failureOf(query, answer);
    if (failure.kind === 'unavailable') throw failure;
    return { subject, message: `${failure.message}.`, value: undefined };
  }
  const value = dataOf(answer.body)[member];
  return { subject, message: 'The answer is none.', value: typeof value === 'string' ? value : undefined };
}
