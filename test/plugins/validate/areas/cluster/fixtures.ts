import type { FakeObject } from '../../cluster/fake-cluster.ts';
import { changed, fixtureOf } from '../../cluster/fixture-of.ts';
import type { Fixtures } from '../../fixture.ts';

const withInfo = (info: object) => (node: FakeObject) => ({
  ...node,
  status: { nodeInfo: { ...node['status'].nodeInfo, ...info } },
});

const passes = fixtureOf();

export const fixtures: Fixtures = {
  'SVC-CLUSTER-001': {
    passes,
    fails: fixtureOf((cluster) => ({ ...cluster, version: { major: '1', minor: '27+' } })),
  },
  'SVC-CLUSTER-002': {
    passes,
    fails: fixtureOf(changed('Node', 'node-1', withInfo({ kernelVersion: '5.10.0-19-cloud-amd64' }))),
  },
  'SVC-CLUSTER-003': {
    passes,
    fails: fixtureOf(
      changed('Node', 'node-1', (node) => ({
        ...node,
        metadata: { ...node.metadata, labels: { 'eks.amazonaws.com/compute-type': 'fargate' } },
      })),
    ),
  },
  'SVC-CLUSTER-004': {
    passes,
    fails: fixtureOf(changed('Node', 'node-1', withInfo({ architecture: 's390x' }))),
  },
};
