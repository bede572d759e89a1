import { dataOf } from '../../../../core/vault/answer.ts';
import { vaultPath } from '../../../../core/vault/path.ts';
import { authMethod } from '../../../../runtime/vault/rules.ts';
import type { CheckFailure } from '../../contract.ts';
import { NotEvaluated } from '../../not-evaluated.ts';
import { failed, skipped, verdict } from '../../results.ts';
import { ask } from '../../vault/ask.ts';
import { vaultCheck } from './vault-check.ts';

export const role = vaultCheck(
  {
    id: 'SVC-VAULT-007',
    title: 'The auth role is bound to named service accounts and namespaces',
    level: 'error',
    cause:
      'The role accepts every service account or every namespace (*), so that any pod of the cluster gets its secrets and its key. Namespaces that it chooses by their labels are a warning.',
    fix: 'Set bound_service_account_names and bound_service_account_namespaces of the role to those of the workloads.',
  },
  async (vault, { config }, signal) => {
    const { vaultAddr, vaultAuthRole: name, vaultAuthMountPath: mount } = config;
    if (vaultAddr === undefined || authMethod({ ...config, vaultAddr }) === 'token' || name === undefined)
      return skipped('The login is by a token, without a role.');
    const path = vaultPath(mount, 'role', name);
    const answer = await ask(await vault.auditor(), { method: 'GET', path }, signal);
    if (answer.status === 404) return failed({ subject: path, message: 'There is no such role.' });
    const data = dataOf(answer.body);
    const byLabels = selectedNamespaces(path, data);
    const named = byLabels.length === 0 || isFilled(data[namespaces]);
    return verdict([
      ...unbound(path, data, 'bound_service_account_names', 'service account'),
      ...(named ? unbound(path, data, namespaces, 'namespace') : []),
      ...byLabels,
    ]);
  },
);

const namespaces = 'bound_service_account_namespaces';

const isFilled = (bound: unknown): bound is readonly unknown[] => Array.isArray(bound) && bound.length > 0;

/** A role of another auth method tells nothing of service accounts: that must not count as bound. */
function unbound(
  subject: string,
  data: Readonly<Record<string, unknown>>,
  field: string,
  what: string,
): readonly CheckFailure[] {
  const bound = data[field];
  if (!isFilled(bound)) throw new NotEvaluated(`The secrets server does not tell ${field} of ${subject}.`);
  if (!bound.some((one) => /^\*+$/.test(String(one)))) return [];
  return [{ subject, message: `It accepts every ${what} (${field} has *).` }];
}

function selectedNamespaces(
  subject: string,
  data: Readonly<Record<string, unknown>>,
): readonly CheckFailure[] {
  if (!data['bound_service_account_namespace_selector']) return [];
  const message = 'It accepts namespaces by their labels, so that whoever labels one gets in.';
  return [{ subject, level: 'warning', message }];
}
