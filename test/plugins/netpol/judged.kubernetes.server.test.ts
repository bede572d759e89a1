import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseAllDocuments } from 'yaml';
import { egressPolicies } from '../../../src/cluster/egress/policies.ts';
import { generatePolicies } from '../../../src/plugins/netpol/generate.ts';
import { yamlDocuments } from '../../../src/plugins/netpol/index.ts';
import { netpolSettings } from '../../../src/plugins/netpol/settings.ts';
import { resolveSettings } from '../../../src/runtime/settings/resolve.ts';
import { shapes } from '../../cluster/egress/shapes.ts';
import { type Connection, mayConnect, type PolicyPod } from '../../support/network-policy.ts';
import {
  type Choice,
  type Cluster,
  choices,
  clusterOf,
  free,
  ports,
  withProxy,
  wrapped,
} from './clusters.ts';
import { fakeCluster } from './fake-cluster.ts';
import { judge, type PolicyQuestion } from './judge.ts';

const test = suite('policies before an independent judge');
const protocols = ['TCP', 'UDP'];
const { signal } = new AbortController();

interface Case {
  readonly choice: Choice;
  readonly cluster: Cluster;
  readonly question: PolicyQuestion;
}

/** What is printed, read back. */
async function caseOf(choice: Choice): Promise<Case> {
  const cluster = clusterOf(choice);
  const { policies } = await generatePolicies({
    ...{ settings: resolveSettings(netpolSettings, {}), client: fakeCluster(cluster.objects), signal },
    resolver: async (host) => ({ addresses: cluster.names[host] ?? [], failed: false }),
  });
  const printed = parseAllDocuments(yamlDocuments(policies)).map((each) => each.toJS());
  const from = [wrapped, withProxy];
  return {
    choice,
    cluster,
    question: { policies: printed, from, targets: cluster.targets, ports, protocols },
  };
}

/** In the order of the judge's verdicts. Our own evaluator is slower, and is asked about every ninth of them. */
function* connections({ from, targets, ports, protocols }: PolicyQuestion): Generator<Connection> {
  for (const source of from)
    for (const target of targets)
      for (const port of ports)
        for (const protocol of protocols) yield { from: source, ...target, port, protocol };
}

function isMeant({ main, store }: Cluster, { from, ip, protocol, port }: Connection): boolean {
  const key = `${ip} ${protocol} ${port}`;
  return main.has(key) || (from === withProxy && store.has(key));
}

test('of every combination allow what is meant, and nothing more', async () => {
  const cases = await Promise.all([...choices()].map(caseOf));
  assert.ok(cases.length >= 200, `only ${cases.length} clusters`);
  const verdicts = await judge(cases.map(({ question }) => question));
  for (const [index, { choice, cluster, question }] of cases.entries()) {
    const allowed = verdicts[index] ?? [];
    const all = [...connections(question)];
    assert.is(allowed.length, all.length);
    for (const [at, connection] of all.entries()) {
      const note = () => JSON.stringify({ choice, connection });
      if (allowed[at] !== isMeant(cluster, connection)) assert.unreachable(`the judge differs: ${note()}`);
      if (at % 9 === index % 9 && allowed[at] !== mayConnect(question.policies, connection))
        assert.unreachable(`ours differs: ${note()}`);
    }
  }
});

test('concern neither pods that are not protected nor other namespaces', async () => {
  const { question } = await caseOf({
    family: 'dual',
    vault: 'service',
    apiServer: 1,
    dns: 'usual',
    store: 'external',
  });
  const [verdicts = []] = await judge([{ ...question, from: free }]);
  assert.ok(verdicts.length > 0 && verdicts.every((allowed) => allowed));
});

test('of random facts are to the judge what they are to our own evaluator', async () => {
  const generated = fc.sample(shapes, { numRuns: 250, seed: 20 });
  const questions = generated.map(({ facts, pods }): PolicyQuestion => {
    const known = pods.map(withOneNameAPort);
    const mentioned =
      JSON.stringify(facts).match(/\d+\.\d+\.\d+\.\d+(?!\/)|(2001:db8|fd00:1)::\d+:\d+/g) ?? [];
    return {
      policies: egressPolicies(facts).policies,
      from: [wrapped, withProxy],
      targets: [
        ...known.flatMap((to) => to.ips.map((ip) => ({ ip, to }))),
        ...[...new Set(mentioned)].map((ip) => ({ ip, to: undefined })),
      ],
      ports,
      protocols: ['TCP', 'UDP'],
    };
  });
  const verdicts = await judge(questions);
  let allowed = 0;
  for (const [index, question] of questions.entries()) {
    const shape = generated[index];
    for (const [at, connection] of [...connections(question)].entries()) {
      const verdict = verdicts[index]?.[at];
      const { from } = connection;
      const meant = shape?.main(connection) || (from === withProxy && shape?.store(connection));
      const note = () => JSON.stringify({ facts: shape?.facts, connection });
      if (verdict !== meant) assert.unreachable(`the judge differs: ${note()}`);
      if (at % 9 === index % 9 && verdict !== mayConnect(question.policies, connection))
        assert.unreachable(`ours differs: ${note()}`);
      if (verdict) allowed += 1;
    }
  }
  assert.ok(allowed > 250, `only ${allowed} connections were allowed at all`);
});

/** The judge knows one name of a port. */
function withOneNameAPort(pod: PolicyPod): PolicyPod {
  const seen = new Set<string>();
  const named = Object.entries(pod.named).filter(([key, port]) => {
    const where = `${port}/${key.split('/')[1]}`;
    return !seen.has(where) && seen.add(where);
  });
  return { ...pod, named: Object.fromEntries(named) };
}

test.run();
