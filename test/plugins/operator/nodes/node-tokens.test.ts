import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { KubeError, type KubeRequest } from '../../../../src/cluster/kube/client.ts';
import {
  createNodeTokens,
  type NodeTokensOptions,
} from '../../../../src/plugins/operator/nodes/node-tokens.ts';
import { ReportRefused } from '../../../../src/plugins/operator/nodes/read-report.ts';
import { fakeClient } from '../../../support/fake-client.ts';
import { recordingLog } from '../../agent/access-events/recording-log.ts';

const test = suite('tokens of agents, as an API server tells of them');

const token = 'head.body.signature';
const extraOf = (extra: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(extra).map(([name, value]) => [`authentication.kubernetes.io/${name}`, [value]]),
  );
const bound = { 'pod-name': 'svc-ebpf-x', 'pod-uid': 'uid-x' };
const account = 'system:serviceaccount:svc-system:svc-ebpf';

function statusOf(extra: Readonly<Record<string, string>>, members: object = {}): object {
  const user = { username: account, extra: extraOf(extra) };
  return { status: { authenticated: true, audiences: ['svc-operator'], user, ...members } };
}

interface Rig {
  readonly asked: KubeRequest[];
  nodeOf(token?: string, peer?: string): Promise<string>;
  pass(ms: number): void;
  readonly lines: ReturnType<typeof recordingLog>['lines'];
}

function createRig(answer: (request: KubeRequest) => unknown, rate?: NodeTokensOptions['rate']): Rig {
  const asked: KubeRequest[] = [];
  let at = 0;
  const { log, lines } = recordingLog();
  const client = fakeClient((async (request: KubeRequest) => {
    asked.push(request);
    return answer(request);
  }) as Parameters<typeof fakeClient>[0]);
  const { signal } = new AbortController();
  const tokens = createNodeTokens({
    ...{ client, namespace: 'svc-system', log, signal, now: () => at },
    ...(rate && { rate }),
  });
  return {
    asked,
    lines,
    nodeOf: (given = token, peer = '192.0.2.1') => tokens.nodeOf(given, peer),
    pass(ms) {
      at += ms;
    },
  };
}

async function refusal(of: Promise<string>): Promise<ReportRefused> {
  try {
    return assert.unreachable(await of) as never;
  } catch (error) {
    if (error instanceof ReportRefused) return error;
    throw error;
  }
}

test('are of the node that it names, and are asked about once in five minutes', async () => {
  const rig = createRig(() => statusOf({ ...bound, 'node-name': 'node-1' }));
  assert.equal(await Promise.all([rig.nodeOf(), rig.nodeOf()]), ['node-1', 'node-1']);
  rig.pass(299_000);
  assert.is(await rig.nodeOf(), 'node-1');
  assert.is(rig.asked.length, 1);
  rig.pass(2_000);
  await rig.nodeOf();
  assert.is(rig.asked.length, 2);
  const { body } = rig.asked[0] as { body: { spec: object } };
  assert.equal(body.spec, { token, audiences: ['svc-operator'] });
});

test('are of the node of their pod, where it does not name one', async () => {
  const pod = { metadata: { uid: 'uid-x' }, spec: { nodeName: 'node-2' } };
  const rig = createRig(({ method }) => (method === 'POST' ? statusOf(bound) : pod));
  assert.is(await rig.nodeOf(), 'node-2');
  assert.is(rig.asked[1]?.path, '/api/v1/namespaces/svc-system/pods/svc-ebpf-x');
});

for (const [name, pod] of Object.entries({
  'another pod of the same name': { metadata: { uid: 'uid-y' }, spec: { nodeName: 'node-2' } },
  'a pod that runs nowhere': { metadata: { uid: 'uid-x' }, spec: {} },
  'a pod that is gone': undefined,
})) {
  test(`are refused for ${name}`, async () => {
    const rig = createRig(({ method }) => {
      if (method === 'POST') return statusOf(bound);
      if (pod !== undefined) return pod;
      throw new KubeError('KUBE_NOT_FOUND', '404');
    });
    assert.is((await refusal(rig.nodeOf())).status, 'UNAUTHENTICATED');
  });
}

for (const [name, status] of Object.entries({
  'that are no tokens to it': { status: { authenticated: false, error: 'expired' } },
  'without an answer': {},
  'for another audience': statusOf(bound, { audiences: ['kubernetes'] }),
  'for whoever asks': statusOf(bound, { audiences: [] }),
  'of another service account': statusOf(bound, {
    user: { username: 'system:serviceaccount:team:svc-ebpf', extra: extraOf({ ...bound, 'node-name': 'n' }) },
  }),
  'of a person': statusOf(bound, { user: { username: 'svc-ebpf', extra: {} } }),
  'bound to no pod': statusOf({ 'node-name': 'node-1' }),
})) {
  test(`${name} are refused, and asked about again`, async () => {
    const rig = createRig(() => status);
    assert.is((await refusal(rig.nodeOf())).status, 'UNAUTHENTICATED');
    await refusal(rig.nodeOf());
    assert.is(rig.asked.length, 2);
  });
}

test('are not even asked about where they have another form', async () => {
  const rig = createRig(() => statusOf({ ...bound, 'node-name': 'node-1' }));
  for (const text of ['', 'a.b', 'a.b.c.d', 'a.b.c\n', `a.${'b'.repeat(20_000)}.c`, '../x.y.z'])
    assert.is((await refusal(rig.nodeOf(text))).status, 'UNAUTHENTICATED', text);
  assert.equal(rig.asked, []);
});

test('wait while the API server does not answer, which is said a few times and shows no token', async () => {
  const rig = createRig(() => {
    throw new KubeError('KUBE_UNAVAILABLE', 'POST /apis/…: ECONNREFUSED');
  });
  for (let i = 0; i < 20; i++) assert.is((await refusal(rig.nodeOf())).status, 'UNAVAILABLE');
  assert.is(rig.lines.length, 5);
  assert.not.match(JSON.stringify(rig.lines), token);
});

test('say so where the operator may not ask', async () => {
  const rig = createRig(() => {
    throw new KubeError('KUBE_DENIED', 'POST /apis/…: 403');
  });
  assert.match((await refusal(rig.nodeOf())).message, /may not review tokens/);
});

test('that are invented do not flood the API server', async () => {
  const rig = createRig(() => ({ status: { authenticated: false } }), { burst: 10, perSecond: 1 });
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => refusal(rig.nodeOf(`a.b${n}.c`, `192.0.2.${n}`))),
  );
  assert.is(rig.asked.length, 10);
  assert.is(answers.filter(({ status }) => status === 'RESOURCE_EXHAUSTED').length, 40);
});

test('that one node invents keep no other node from being asked about', async () => {
  const authentic = statusOf({ ...bound, 'node-name': 'node-1' });
  const rig = createRig(
    ({ body }) => {
      const { spec } = body as { spec: { token: string } };
      return spec.token === token ? authentic : { status: { authenticated: false } };
    },
    { burst: 40, perSecond: 1 },
  );
  for (let n = 0; n < 500; n++) await refusal(rig.nodeOf(`a.b${n}.c`, '192.0.2.66'));
  assert.is(rig.asked.length, 30);
  assert.is(await rig.nodeOf(token, '192.0.2.1'), 'node-1');
});

test.run();
