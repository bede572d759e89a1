import type { Kubernetes } from '../../../support/kubernetes.ts';
import type { OpenBao } from '../../../support/types.ts';

const reviewer = { namespace: 'default', name: 'openbao' };
const rbac = 'rbac.authorization.k8s.io';

/** Has the key server ask this API server who a token belongs to, by a service account that may do nothing else. */
export async function acceptServiceAccounts(bao: OpenBao, kube: Kubernetes): Promise<void> {
  await kube.createServiceAccount(reviewer);
  await kube.apply({
    ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata: { name: 'openbao-reviews' } },
    subjects: [{ kind: 'ServiceAccount', ...reviewer }],
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'system:auth-delegator' },
  });
  await must(bao, 'sys/auth/kubernetes', { type: 'kubernetes' });
  await must(bao, 'auth/kubernetes/config', {
    kubernetes_host: kube.url,
    kubernetes_ca_cert: kube.caCert,
    token_reviewer_jwt: await kube.tokenFor(reviewer),
    disable_local_ca_jwt: true,
  });
}

const namespacesOf = new WeakMap<OpenBao, Map<string, string[]>>();

/**
 * Lets the service account `default` of one more namespace log in under a role.
 * @param audience that its tokens have to be for; unset: the API server's own
 */
export async function allowRole(
  bao: OpenBao,
  role: string,
  namespace: string,
  policies: readonly string[],
  audience?: string,
): Promise<void> {
  const roles = namespacesOf.get(bao) ?? new Map<string, string[]>();
  namespacesOf.set(bao, roles);
  const namespaces = [...(roles.get(role) ?? []), namespace];
  roles.set(role, namespaces);
  await must(bao, `auth/kubernetes/role/${role}`, {
    bound_service_account_names: ['default'],
    bound_service_account_namespaces: namespaces,
    token_policies: policies,
    token_no_default_policy: true,
    token_ttl: '1h',
    ...(audience !== undefined && { audience }),
  });
}

async function must(bao: OpenBao, path: string, body: object): Promise<void> {
  const { status, text } = await bao.request('POST', path, body);
  if (status >= 300) throw new Error(`OpenBao: ${path}: ${status} ${text}`);
}
