import type { Kubernetes } from '../../support/kubernetes.ts';
import { addReplica, type Replica } from '../../support/operator-cluster.ts';
import { serviceAddress } from '../../support/service-address.ts';
import { waitFor } from '../../support/wait-for.ts';

/**
 * What a node would do: runs the operator that the Deployment in `svc-system` describes, and has the Service lead to it.
 * @param caFile what the Deployment mounts
 */
export async function startInstalledOperator(kubernetes: Kubernetes, caFile: string): Promise<Replica> {
  const path = '/apis/apps/v1/namespaces/svc-system/deployments/svc-operator';
  const deployment = await kubernetes.must('GET', path);
  const env = { SVC_OPERATOR_CA_FILE: caFile };
  const host = await serviceAddress();
  const replica = await addReplica(kubernetes, [deployment], { name: 'svc-operator-0', host, env });
  await waitFor('the authority in the webhook configuration', () => hasBundle(kubernetes), {
    details: replica.output,
  });
  return replica;
}

async function hasBundle(kubernetes: Kubernetes): Promise<boolean> {
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/svc-operator';
  const { webhooks } = await kubernetes.must('GET', path);
  return webhooks.every(({ clientConfig }: { clientConfig: { caBundle?: string } }) => clientConfig.caBundle);
}
