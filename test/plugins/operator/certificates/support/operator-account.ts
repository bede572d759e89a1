import type { KubeClient } from '../../../../../src/cluster/kube/client.ts';
import { createKubeClient } from '../../../../../src/cluster/kube/create-client.ts';
import type { Kubernetes } from '../../../../support/kubernetes.ts';

/** Of the specification's table, what certificates need. */
const clusterRules = [
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingwebhookconfigurations'],
    verbs: ['get', 'patch'],
  },
];
const ownRules = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'update'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];

/** A client of a service account that may do what the operator may, and nothing else. */
export async function operatorClient(cluster: Kubernetes, namespace: string): Promise<KubeClient> {
  const account = { namespace, name: 'svc-operator' };
  const name = `operator-${namespace}`;
  const rbac = 'rbac.authorization.k8s.io';
  const bound = (kind: string) => ({
    subjects: [{ kind: 'ServiceAccount', ...account }],
    roleRef: { apiGroup: rbac, kind, name },
  });
  const apiVersion = `${rbac}/v1`;
  await cluster.createServiceAccount(account);
  await cluster.apply(
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: clusterRules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: { name }, ...bound('ClusterRole') },
    { apiVersion, kind: 'Role', metadata: { name, namespace }, rules: ownRules },
    { apiVersion, kind: 'RoleBinding', metadata: { name, namespace }, ...bound('Role') },
  );
  const client = await createKubeClient({ KUBECONFIG: cluster.kubeconfig(await cluster.tokenFor(account)) });
  if (client === undefined) throw new Error('the kubeconfig names no API server');
  return client;
}
