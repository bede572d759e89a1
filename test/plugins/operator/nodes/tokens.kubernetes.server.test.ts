import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceError } from '@grpc/grpc-js';
import * as grpc from '@grpc/grpc-js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Connection } from '../../../../src/plugins/agent/operator/connection.ts';
import type { Kubernetes } from '../../../support/kubernetes.ts';
import {
  type OperatorCluster,
  type Replica,
  startOperatorCluster,
} from '../../../support/operator-cluster.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { agentPod, agentToken, tellOperator } from '../../audit/cluster/telling-agent.ts';

export const timeout = 240_000;
const test = suite('reports of nodes, by the token of their own agent');
const pods = '/api/v1/namespaces/svc-system/pods';
const folder = temporaryFolder('agent-files');

let cluster: OperatorCluster;
let kube: Kubernetes;
let leader: Replica;

test.before(async () => {
  cluster = await startOperatorCluster({ values: { operator: { leaderElect: true } } });
  kube = cluster.kubernetes;
  leader = await cluster.leader();
  await waitFor('the agents’ certificate', async () => {
    const { status } = await kube.request('GET', '/api/v1/namespaces/svc-system/secrets/svc-agent-tls');
    return status === 200;
  });
});

test.after(async () => {
  await cluster?.stop();
  await folder.remove();
});

const address = () => leader.started['grpc'] ?? '';
const accounts = '/api/v1/namespaces/svc-system/serviceaccounts';

/** The token of a node's own agent. */
async function tokenOf(node: string): Promise<string> {
  const pod = `svc-ebpf-${node}`;
  if ((await kube.request('GET', `${pods}/${pod}`)).status === 404) {
    await kube.must('POST', '/api/v1/nodes', { metadata: { name: node } });
    await agentPod(kube, pod, node);
  }
  return agentToken(kube, pod);
}

async function otherToken(spec: object, account = 'svc-ebpf'): Promise<string> {
  return (await kube.must('POST', `${accounts}/${account}/token`, { spec })).status.token;
}

async function boundTo(pod: string): Promise<object> {
  const { metadata } = await kube.must('GET', `${pods}/${pod}`);
  return { apiVersion: 'v1', kind: 'Pod', name: pod, uid: metadata.uid };
}

/** Status with which a report for a node is answered. */
async function answerTo(node: string, token: string): Promise<string> {
  try {
    await tellOperator(kube, address(), node, [], token);
    return 'OK';
  } catch (error) {
    const { code, details } = error as ServiceError;
    return `${grpc.status[code]} ${details}`;
  }
}

test('are taken for the node of its pod, and for no other', async () => {
  const token = await tokenOf('node-a');
  assert.is(await answerTo('node-a', token), 'OK');
  assert.is(await answerTo('node-b', token), 'PERMISSION_DENIED the token is of another node than node-b');
  assert.is(await answerTo('node-b', await tokenOf('node-b')), 'OK');
});

test('are not taken with what is no token', async () => {
  assert.is(await answerTo('node-c', 'none'), 'UNAUTHENTICATED this is not a token');
});

test('are not taken with a token that is for the API server', async () => {
  await tokenOf('node-d');
  const boundObjectRef = await boundTo('svc-ebpf-node-d');
  assert.match(await answerTo('node-d', await otherToken({ boundObjectRef })), /^UNAUTHENTICATED/);
  const usual = await kube.tokenFor({ namespace: 'svc-system', name: 'svc-ebpf' });
  assert.match(await answerTo('node-d', usual), /^UNAUTHENTICATED/);
});

test('are not taken with a token that is bound to no pod', async () => {
  const token = await otherToken({ audiences: ['svc-operator'] });
  assert.is(await answerTo('node-e', token), 'UNAUTHENTICATED the token is bound to no pod');
});

test('are not taken with the token of another service account', async () => {
  await kube.createServiceAccount({ namespace: 'svc-system', name: 'other' });
  await kube.must('POST', pods, {
    metadata: { name: 'other' },
    spec: {
      ...{ nodeName: 'node-a', serviceAccountName: 'other', automountServiceAccountToken: false },
      containers: [{ name: 'other', image: 'registry.example/other:1' }],
    },
  });
  const spec = { audiences: ['svc-operator'], boundObjectRef: await boundTo('other') };
  const token = await otherToken(spec, 'other');
  assert.match(await answerTo('node-a', token), /^UNAUTHENTICATED .*not of the service account/);
});

test('are not taken with the token of a pod that is gone, or one that nobody has signed', async () => {
  const token = await tokenOf('node-f');
  await kube.must('DELETE', `${pods}/svc-ebpf-node-f?gracePeriodSeconds=0`);
  assert.match(await answerTo('node-f', token), /^UNAUTHENTICATED .*does not accept/);
  const [head, body] = (await tokenOf('node-g')).split('.');
  assert.match(await answerTo('node-g', `${head}.${body}.AAAA`), /^UNAUTHENTICATED .*does not accept/);
});

test('of a real agent follow the file that the kubelet writes anew', async () => {
  const { data } = await kube.must('GET', '/api/v1/namespaces/svc-system/secrets/svc-agent-tls');
  const write = (name: string, text: string | Buffer) => {
    writeFileSync(join(folder.path, name), text, { mode: 0o600 });
    return join(folder.path, name);
  };
  const [caPath = '', keyPath = '', certPath = ''] = ['ca.crt', 'tls.key', 'tls.crt'].map((name) =>
    write(name, Buffer.from(data[name], 'base64')),
  );
  const tokenPath = write('token', await tokenOf('node-h'));
  const port = Number(address().split(':')[1]);
  const connection = new Connection({
    address: { host: 'svc-operator-agents.svc-system.svc', port },
    ...{ tls: { caPath, keyPath, certPath }, tokenPath, timeoutMs: 10_000 },
    signal: new AbortController().signal,
    endpointsOf: async () => [`ipv4:${address()}`],
  });
  let sequence = 0;
  const report = () => {
    sequence += 1;
    return connection.report({ node: 'node-h', instance: 'i', sequence });
  };
  assert.ok(await report());
  write('token', await tokenOf('node-i'));
  await report().then(
    () => assert.unreachable('it was taken'),
    (error: Error) => assert.match(error.message, /another node/),
  );
  write('token', await tokenOf('node-h'));
  assert.ok(await report());
  connection.close();
});

test('leave no token in any log', () => {
  for (const replica of cluster.replicas) assert.not.match(replica.output(), /eyJ[\w-]+\.[\w-]+\./);
});

test.run();
