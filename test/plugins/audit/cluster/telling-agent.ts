import * as grpc from '@grpc/grpc-js';
import { loadProtoService } from '../../../../src/runtime/net/load-proto.ts';
import type { Kubernetes } from '../../../support/kubernetes.ts';

export interface ToldPod {
  readonly podUid: string;
  readonly labelled: boolean;
  readonly covered: boolean;
}

export const enforcing = { tier: 'TIER_LSM', enforcing: true, enforceMode: true };

/**
 * Tells the operator, as the agent of a node would, what it does for these pods.
 * @param token of the agent's pod, see `agentToken`
 * @param tells by default that it enforces tier 1
 */
export async function tellOperator(
  kube: Kubernetes,
  address: string,
  node: string,
  pods: readonly ToldPod[],
  token: string,
  tells: object = enforcing,
): Promise<void> {
  const { data } = await kube.must('GET', '/api/v1/namespaces/svc-system/secrets/svc-agent-tls');
  const [ca, key, cert] = ['ca.crt', 'tls.key', 'tls.crt'].map((name) => Buffer.from(data[name], 'base64'));
  const service = await loadProtoService('svc/operator/v1/node_channel.proto', 'svc.operator.v1.NodeChannel');
  const method = service['ReportNode'];
  if (method === undefined) throw new Error('no ReportNode');
  const credentials = grpc.credentials.createSsl(ca ?? null, key, cert);
  const client = new grpc.Client(address, credentials, { 'grpc.ssl_target_name_override': 'svc-operator' });
  const state = { ...tells, pods };
  const report = { node, instance: 'test', bootId: 'boot', agentVersion: '0', sequence: '1', state };
  const metadata = new grpc.Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  try {
    await new Promise<void>((resolve, reject) =>
      client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        report,
        metadata,
        (error) => (error === null ? resolve() : reject(error)),
      ),
    );
  } finally {
    client.close();
  }
}

const agents = '/api/v1/namespaces/svc-system';

/** Of a pod of the agent's service account, as the kubelet of its node would get it. */
export async function agentToken(kube: Kubernetes, pod: string): Promise<string> {
  const { metadata } = await kube.must('GET', `${agents}/pods/${pod}`);
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: pod, uid: metadata.uid };
  const { status } = await kube.must('POST', `${agents}/serviceaccounts/svc-ebpf/token`, {
    spec: { audiences: ['svc-operator'], expirationSeconds: 3_600, boundObjectRef },
  });
  return status.token;
}

/** A pod that an agent could be, on a node that there is. */
export async function agentPod(kube: Kubernetes, name: string, node: string): Promise<void> {
  await kube.must('POST', `${agents}/pods`, {
    metadata: { name, labels: { 'app.kubernetes.io/name': 'svc-ebpf' } },
    spec: {
      ...{ nodeName: node, serviceAccountName: 'svc-ebpf' },
      containers: [{ name: 'agent', image: 'svc/agent:1' }],
    },
  });
}
