import { dataOf } from '../../../core/vault/answer.ts';
import { failureOf } from '../../../runtime/vault/failure.ts';
import { NotEvaluated } from '../not-evaluated.ts';
import type { VaultQuery, VaultSession } from './contract.ts';

/** By path. */
export type Capabilities = ReadonlyMap<string, readonly string[]>;

const ownPath = 'sys/capabilities-self';

/**
 * What the workload may do, as it may ask itself by the default policy, or else as the auditor is told of its token.
 * @throws NotEvaluated where neither may ask
 */
export async function capabilitiesOf(
  workload: VaultSession & { readonly token: string },
  auditor: VaultSession,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Capabilities> {
  const own: VaultQuery = { method: 'POST', path: ownPath, body: { paths } };
  const answer = await workload.ask(own, signal);
  if (answer.status === 200) return read(answer.body, paths);
  if (answer.status !== 403) throw failureOf(own, answer);
  const path = 'sys/capabilities';
  const asAuditor: VaultQuery = { method: 'POST', path, body: { paths, token: workload.token } };
  const told = auditor === workload ? answer : await auditor.ask(asAuditor, signal);
  if (told.status === 200) return read(told.body, paths);
  if (told.status !== 403) throw failureOf(asAuditor, told);
  throw new NotEvaluated(
    'The login may not ask what it may do: attach the default policy, or name a token that may ask for others with --auditor-token-file.',
    auditor === workload ? `update on ${ownPath}` : `update on ${path}`,
  );
}

function read(body: unknown, paths: readonly string[]): Capabilities {
  const data = dataOf(body);
  return new Map(paths.map((path) => [path, listed(data[path], path)]));
}

/** A path that is left out must not count as one where nothing is permitted. */
function listed(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value) && value.length > 0) return value.map(String);
  throw new NotEvaluated(`The secrets server does not say what the login may do on ${path}.`);
}
