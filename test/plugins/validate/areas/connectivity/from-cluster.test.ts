import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { FakeCluster, FakeObject } from '../../cluster/fake-cluster.ts';
import { answering, fixtureOf } from '../../cluster/fixture-of.ts';
import { levels, verdictOf } from '../../cluster/verdict-of.ts';

const test = suite('connectivity within the cluster');

/** The same object under another name, on another node. */
const copied =
  (kind: string, name: string, copy: string, place: object = {}) =>
  (cluster: FakeCluster): FakeCluster => {
    const like = ({ spec, metadata, ...rest }: FakeObject): FakeObject => ({
      ...{ ...rest, metadata: { ...metadata, name: copy, ...place }, spec: { ...spec, nodeName: 'node-2' } },
    });
    const copies = cluster.objects.filter((one) => one.kind === kind && one.metadata.name === name).map(like);
    return { ...cluster, objects: [...cluster.objects, ...copies] };
  };

const asked = [
  ['SVC-NET-001', '8081/healthz'],
  ['SVC-NET-005', '8090/readyz'],
] as const;

test('a pod that is ready and does not answer, while others do, is a warning', async () => {
  for (const [id, place] of asked) {
    const other = copied('Pod', 'web', 'web-2');
    assert.equal(await levels(id, fixtureOf(other)), ['warning']);
    const answers = fixtureOf(other, answering(`shop/web-2:${place}`, 'ok'));
    assert.match(JSON.stringify(await verdictOf(id, answers)), /"passed".*2 of 2 pods asked/);
    const found = JSON.stringify(await verdictOf(id, fixtureOf(other)));
    assert.match(found, /"subject":"shop\/web-2".*connection refused/);
    assert.equal(await levels(id, fixtureOf(other, answering(`shop/web:${place}`, 503))), [
      'error',
      'warning',
    ]);
  }
});

test('where none answers, nothing is known', async () => {
  for (const [id, place] of asked) {
    const silent = fixtureOf(copied('Pod', 'web', 'web-2'), answering(`shop/web:${place}`, undefined));
    const result = JSON.stringify(await verdictOf(id, silent));
    assert.match(result, /"not-evaluated".*such as shop\/web: .*connection refused/);
  }
});

test('a proxy that cannot be asked is a warning beside those that can, whatever they say', async () => {
  const id = 'SVC-NET-004';
  const other = copied('Pod', 'web', 'web-2');
  const requests = (status: number) => `svc_proxy_requests_total{operation="PutObject",status="${status}"} 4`;
  const found = (text: string) => levels(id, fixtureOf(other, answering('shop/web:8090/metrics', text)));
  assert.equal(await found(requests(200)), ['warning']);
  assert.equal(await found(requests(503)), ['error', 'warning']);
  assert.equal(await found(''), ['warning']);
  assert.match(JSON.stringify(await verdictOf(id, fixtureOf(other))), /shop\/web-2".*connection refused/);
});

const agent = copied('Pod', 'svc-ebpf-1', 'svc-ebpf-2');
const page = (key: string, text: string) => answering(`svc-system/${key}/metrics`, text);
const enough = page('svc-operator-0:8080', 'svc_nodes{tier="lsm",enforcing="true"} 2');
const agentPage = (connected: string) => `svc_agent_tier{tier="lsm"} 1\n${connected}`;

test('names the nodes whose agents the operator does not answer, whatever it counts', async () => {
  const cut = page('svc-ebpf-2:9090', agentPage('svc_agent_operator_connected 0'));
  const found = await verdictOf('SVC-NET-006', fixtureOf(agent, enough, cut));
  assert.equal(
    found.state === 'failed' && found.failures.map(({ subject }) => subject),
    ['node-2'],
    JSON.stringify(found),
  );
});

test('of agents that cannot be asked, or do not say it, the operator has to count enough', async () => {
  for (const told of [page('svc-ebpf-2:9090', agentPage('')), page('svc-ebpf-3:9090', '')]) {
    assert.is((await verdictOf('SVC-NET-006', fixtureOf(agent, enough, told))).state, 'passed');
    const one = await verdictOf('SVC-NET-006', fixtureOf(agent, told));
    assert.match(JSON.stringify(one), /It gets reports from 1 of 2 running agents/);
  }
});

test.run();
