import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tier } from '../../../../../src/plugins/validate/areas/agent.ts';
import { runCheck } from '../../../../../src/plugins/validate/run-check.ts';
import type { FakeObject } from '../../cluster/fake-cluster.ts';
import { added, answering, fixtureOf } from '../../cluster/fixture-of.ts';
import { contextOf } from '../../test-context.ts';

const test = suite('what agents tell');

const silentAgent: FakeObject = {
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: {
    ...{ name: 'svc-ebpf-2', namespace: 'svc-system' },
    labels: { 'app.kubernetes.io/name': 'svc-ebpf' },
  },
  spec: { nodeName: 'node-2', containers: [{ name: 'svc-ebpf' }] },
  status: { phase: 'Running' },
};

test('an agent that cannot be asked is not hidden by one in which something is found', async () => {
  const weak = answering(
    'svc-system/svc-ebpf-1:9090/metrics',
    'svc_agent_tier{tier="tracepoint"} 1\nsvc_agent_enforcing 1',
  );
  const result = await runCheck(tier, contextOf(fixtureOf(weak, added(silentAgent))()));
  assert.is(result.state, 'failed');
  if (result.state !== 'failed') return;
  assert.equal(
    result.failures.map(({ subject, level }) => [subject, level]),
    [['node-1', 'warning']],
  );
  assert.match(result.unknown?.reason ?? '', /could not be asked.*svc-ebpf-2.*connection refused/);
});

test.run();
