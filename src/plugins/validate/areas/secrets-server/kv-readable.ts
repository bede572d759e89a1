import { vaultPath } from '../../../../core/vault/path.ts';
import { failureOf } from '../../../../runtime/vault/failure.ts';
import type { CheckFailure } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';
import type { VaultQuery, VaultSession } from '../../vault/contract.ts';
import type { KvPlace } from '../../vault/mounts.ts';
import { forWrapper } from './identity.ts';
import { kvPlaces } from './kv-places.ts';
import { vaultCheck } from './vault-check.ts';

export const kvReadable = vaultCheck(
  {
    id: 'SVC-VAULT-011',
    title: 'Every KV path is there and can be read',
    level: 'error',
    cause:
      'The path is mistyped, nothing was written there, its last version was deleted, or the policy does not permit read.',
    fix: 'Write the secret, or grant read on the path (in KV version 2 on <mount>/data/<name>).',
  },
  async (vault, context, signal) => {
    if (context.config.secretPaths === undefined || !forWrapper(context.config))
      return skipped('No KV paths are named: give --secrets or SVC_SECRET_PATHS.');
    const { places, failures } = await kvPlaces(context);
    const session = await vault.workload();
    const unreadable = await Promise.all(places.map((place) => lookAt(session, place, signal)));
    return verdict([...failures, ...unreadable.flat()]);
  },
);

/** What comes is a secret: nothing of it is looked at. */
async function lookAt(
  session: VaultSession,
  { given, readPath }: KvPlace,
  signal: AbortSignal,
): Promise<readonly CheckFailure[]> {
  const query: VaultQuery = { method: 'GET', path: vaultPath(readPath) };
  const answer = await session.ask(query, signal);
  if (answer.status === 200) return [];
  if (answer.status === 404) return [{ subject: given, message: 'Nothing is stored there.' }];
  const failure = failureOf(query, answer);
  if (failure.kind !== 'denied') throw failure;
  return [{ subject: given, message: `${failure.message}.` }];
}
