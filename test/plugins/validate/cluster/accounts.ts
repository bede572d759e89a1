import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Kubernetes } from '../../../support/kubernetes.ts';

const page = new URL('../../../../docs/VALIDATE.md', import.meta.url);

/** Rules of the role that the page says is enough. */
export function documentedRules(): readonly object[] {
  const [, yaml = ''] = /```yaml\n(apiVersion: rbac[\s\S]*?)```/.exec(readFileSync(page, 'utf8')) ?? [];
  return parse(yaml).rules;
}

/** Makes a service account that may do this, cluster-wide, and nothing else; its token. */
export async function accountWith(
  kube: Kubernetes,
  account: { readonly namespace: string; readonly name: string },
  rules: readonly object[],
): Promise<string> {
  const group = 'rbac.authorization.k8s.io';
  const { name } = account;
  await kube.createServiceAccount(account);
  await kube.apply(
    { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata: { name }, rules },
    {
      ...{ apiVersion: `${group}/v1`, kind: 'ClusterRoleBinding', metadata: { name } },
      subjects: [{ kind: 'ServiceAccount', ...account }],
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
    },
  );
  return kube.tokenFor(account);
}
