import { dataOf, isRecord } from '../../../core/vault/answer.ts';
import { vaultPath } from '../../../core/vault/path.ts';
import { failureOf } from '../../../runtime/vault/failure.ts';
import { placeIn, segmentsOf } from '../../../runtime/vault/secret-client/secret-path.ts';
import type { VaultQuery, VaultSession } from './contract.ts';

/** A KV path of the settings, at the secrets server. */
export interface KvPlace {
  /** As it was given. */
  readonly given: string;
  /** Without slashes at its ends. */
  readonly mount: string;
  readonly version: 1 | 2;
  /** Where a value is read, not encoded: `secret/data/app`. */
  readonly readPath: string;
}

/** @returns what is wrong instead, where the server has no such store or the login may do nothing there */
export async function kvPlace(
  session: VaultSession,
  given: string,
  signal: AbortSignal,
): Promise<KvPlace | string> {
  const segments = segmentsOf(given);
  const query: VaultQuery = { method: 'GET', path: vaultPath('sys/internal/ui/mounts', ...segments) };
  const answer = await session.ask(query, signal);
  if (answer.status === 403) return 'There is no such store, or the policy permits nothing there.';
  if (answer.status !== 200) throw failureOf(query, answer);
  const { path, type, options } = dataOf(answer.body);
  if (typeof path !== 'string' || !['kv', 'generic'].includes(String(type)))
    return 'It lies in no key/value store.';
  const mount = path.replace(/\/+$/, '');
  const version = isRecord(options) && options['version'] === '2' ? 2 : 1;
  const { apiPath } = placeIn(mount.split('/'), version, segments);
  return { given, mount, version, readPath: decodeURIComponent(apiPath) };
}
