import { answering, changed, fixtureOf, without } from '../../cluster/fixture-of.ts';
import { agentPage } from '../../cluster/healthy-cluster.ts';
import type { Fixtures } from '../../fixture.ts';

const passes = fixtureOf();
const page = 'svc-system/svc-ebpf-1:9090/metrics';

const covering = 'svc_agent_protected_pods 1';

export const fixtures: Fixtures = {
  'SVC-AGENT-001': { passes, fails: fixtureOf(without('Pod', 'svc-ebpf-1')) },
  'SVC-AGENT-002': {
    passes,
    fails: fixtureOf(changed('Pod', 'svc-ebpf-1', (pod) => ({ ...pod, status: { phase: 'Running' } }))),
  },
  'SVC-AGENT-003': {
    passes,
    fails: fixtureOf(answering(page, agentPage.replace('enforcing 1', 'enforcing 0'))),
  },
  'SVC-AGENT-004': {
    passes,
    fails: fixtureOf(answering(page, agentPage.replace('what="hits"} 0', 'what="hits"} 7'))),
  },
  'SVC-AGENT-005': {
    passes,
    fails: fixtureOf(
      changed('DaemonSet', 'svc-ebpf', ({ spec: { template, ...spec }, ...rest }) => ({
        ...rest,
        spec: {
          ...spec,
          template: { ...template, spec: { ...template.spec, priorityClassName: undefined } },
        },
      })),
    ),
  },
  'SVC-AGENT-006': {
    passes,
    fails: fixtureOf(answering(page, agentPage.replace(covering, 'svc_agent_protected_pods 0'))),
  },
};
