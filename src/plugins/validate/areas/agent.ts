import { concurrently } from '../../../runtime/lifecycle/wait.ts';
import { type Tier, tierNames } from '../../../runtime/protocols/protection/report.ts';
import { counted } from '../../../runtime/units.ts';
import {
  type Check,
  type CheckContext,
  type CheckFailure,
  type CheckResult,
  failed,
  passed,
  shared,
  skipped,
  verdict,
  verdictOnPart,
} from '../check.ts';
import { askPod, problemOf } from '../cluster/ask-pod.ts';
import { agentName, agentPodsOf, agentsOf, samplesOf, sumOf } from '../cluster/operator.ts';
import { protectedPodsOf, type SeenPod } from '../cluster/pods.ts';
import { capped } from '../cluster/read.ts';
import { clusterCheck } from '../make-check.ts';
import { needsAgent, nodesOf } from './cluster.ts';

/** Judges a node by its agent's facts; undefined if nothing is wrong. */
type Judge = (facts: AgentFacts, node: string | undefined) => Omit<CheckFailure, 'subject'> | undefined;

/** Judges every node with a running agent; the check cannot pass if an agent does not answer. */
async function judgeAgents(context: CheckContext, judge: Judge): Promise<CheckResult> {
  const told = await toldOf(context);
  if (told.length === 0) return skipped('No agent runs');
  const failures = told.flatMap(({ pod, facts }) => {
    const found = facts && judge(facts, pod.node);
    return found === undefined ? [] : [{ subject: pod.node ?? pod.key, ...found }];
  });
  const silent = told.filter(({ facts }) => facts === undefined);
  const [first] = silent;
  if (first === undefined) return verdict(capped(failures), counted(told.length, 'node'));
  const reason = `${counted(silent.length, 'agent')} could not be asked through the API server, such as ${first.pod.key} (${first.problem})`;
  return verdictOnPart(capped(failures), reason);
}

interface Told {
  readonly pod: SeenPod;
  readonly facts: AgentFacts | undefined;
  /** Why there are no facts. */
  readonly problem: string;
}

const atOnce = 16;
const usualPort = 9090;

/** Asks the running agents. Pages are long and nodes many, so only the judged facts are kept. */
export const toldOf = shared(async (context): Promise<readonly Told[]> => {
  const running = (await agentPodsOf(context)).filter((pod) => pod.running);
  return concurrently(running, atOnce, async (pod) => {
    const answer = await askPod(context, pod, pod.ports['health'] ?? usualPort, 'metrics');
    const facts = answer.kind === 'ok' ? agentFacts(answer.text) : undefined;
    return { pod, facts, problem: problemOf(answer) ?? 'it does not report its tier' };
  });
});

/** Facts from an agent's metrics. */
interface AgentFacts {
  /** Undefined if none is in force yet. */
  readonly tier: Tier | undefined;
  readonly enforcing: boolean;
  /** Entries lost since the agent's start because kernel tables were full. */
  readonly lost: number;
  /** Whether the operator answers the agent's reports; undefined without an operator. */
  readonly isHeard: boolean | undefined;
  /** Number of pods whose cgroups are in the kernel's table. */
  readonly coveredPods: number;
  /** `namespace/name` of labelled pods that are not covered. */
  readonly uncoveredPods: readonly string[];
}

/** Undefined if the page is not an agent's. */
function agentFacts(page: string): AgentFacts | undefined {
  const tiers = samplesOf(page, 'svc_agent_tier');
  if (tiers.length === 0) return undefined;
  const name = tiers.find(({ value }) => value === 1)?.labels['tier'];
  const found = Object.entries(tierNames).find(([, known]) => known === name)?.[0];
  const connected = sumOf(page, 'svc_agent_operator_connected');
  return {
    tier: found === undefined ? undefined : (Number(found) as Tier),
    enforcing: sumOf(page, 'svc_agent_enforcing') === 1,
    lost: sumOf(page, 'svc_agent_lost_total') ?? 0,
    isHeard: connected === undefined ? undefined : connected === 1,
    coveredPods: sumOf(page, 'svc_agent_protected_pods') ?? 0,
    uncoveredPods: samplesOf(page, 'svc_agent_uncovered_pods').map(
      ({ labels }) => `${labels['namespace']}/${labels['pod']}`,
    ),
  };
}

const coverage = clusterCheck('SVC-AGENT-001', 'warning', {
  timeoutMs: 60_000,
  title: 'An agent runs on every node that pods can run on',
  cause:
    'The DaemonSet is not installed or its node selector leaves nodes out, its image cannot be pulled, or a policy refuses privileged pods. It is an error where a protected pod runs.',
  fix: 'Look at kubectl -n svc-system describe daemonset svc-ebpf, and at ebpf.nodeSelector of the chart.',
  async run(context) {
    const agents = await agentsOf(context);
    const subject = `${context.config.operatorNamespace}/${agentName}`;
    if (agents === undefined)
      return failed({ subject, message: 'There is no such DaemonSet.', level: 'error' });
    const [nodes, pods, { labelled }] = await Promise.all([
      nodesOf(context),
      agentPodsOf(context),
      protectedPodsOf(context),
    ]);
    const covered = new Set(pods.filter(({ running }) => running).map(({ node }) => node));
    const used = new Set(labelled.map(({ node }) => node));
    const wanted = nodes.filter(needsAgent);
    if (wanted.length === 0) return skipped('There is no node that an agent can run on');
    const bare = wanted.filter(({ name }) => !covered.has(name));
    const failures = bare.map(({ name }) => ({
      subject: name,
      message: used.has(name) ? 'No agent runs there, and protected pods do.' : 'No agent runs there.',
      ...(used.has(name) && { level: 'error' as const }),
    }));
    return verdict(capped(failures), counted(wanted.length, 'node'));
  },
});

const canary = clusterCheck('SVC-AGENT-002', 'error', {
  timeoutMs: 60_000,
  title: "On every node the agent's canary proves that a read is stopped or seen",
  cause:
    'An agent is ready only while an attempt on its own decoy fails or is seen. The kernel may load no programs (lockdown, no BTF), or with ebpf.requireEnforcement none that deny.',
  fix: 'Read the reason: kubectl -n svc-system logs, or /readyz on port 9090 of the pod. docs/AGENT.md says what each tier needs.',
  async run(context) {
    const pods = await agentPodsOf(context);
    if (pods.length === 0) return skipped('There are no agents');
    const failures = pods
      .filter(({ ready }) => !ready)
      .map(({ key, node }) => ({ subject: node ?? key, message: `The agent ${key} is not ready.` }));
    return verdict(capped(failures), counted(pods.length, 'agent'));
  },
});

export const tier = clusterCheck('SVC-AGENT-003', 'error', {
  timeoutMs: 60_000,
  title: 'On every node reads by other processes are denied (tier 1 or 2, enforcing)',
  cause:
    'enforceMode is false, or the kernel has neither bpf in its LSM list nor BTF: then readers are killed at best (reactiveKill), which is a warning, or only seen.',
  fix: 'Set enforceMode=true, and use nodes with bpf in lsm= or with BTF; at least set reactiveKill=true.',
  run: (context) => judgeAgents(context, tierProblem),
});

function tierProblem({ tier, enforcing }: AgentFacts): Omit<CheckFailure, 'subject'> | undefined {
  if (tier === undefined) return { message: 'No tier is in force yet.' };
  if (tier === 4) return { message: 'Nothing could be loaded into the kernel (tier 4).' };
  if (!enforcing) return { message: `Reads are seen and not stopped (tier ${tier}).` };
  if (tier === 3)
    return { message: 'Readers are killed, perhaps after a first read (tier 3).', level: 'warning' };
  return undefined;
}

const losses = clusterCheck('SVC-AGENT-004', 'warning', {
  timeoutMs: 60_000,
  title: 'The tables of the agents have never been full',
  cause: 'The tables in the kernel are too small for the number of protected processes or of attempts.',
  fix: 'Spread protected pods over more nodes, and look for an attack: svc_agent_lost_total says what was lost.',
  run: (context) =>
    judgeAgents(context, ({ lost }) =>
      lost > 0 ? { message: `${lost} entries found no room since the agent started.` } : undefined,
    ),
});

const wantedPriority = 'system-node-critical';

const priority = clusterCheck('SVC-AGENT-005', 'warning', {
  title: 'Agents are evicted last (priority class system-node-critical)',
  cause:
    'The DaemonSet was changed: a node short of memory evicts the agent before the pods that it protects.',
  fix: 'Apply the chart again.',
  async run(context) {
    const agents = await agentsOf(context);
    if (agents === undefined) return skipped('The agents are not installed');
    const { namespace, name, priorityClass = 'none' } = agents;
    if (priorityClass === wantedPriority) return passed();
    return failed({ subject: `${namespace}/${name}`, message: `Its priority class is ${priorityClass}.` });
  },
});

const podsCovered = clusterCheck('SVC-AGENT-006', 'error', {
  timeoutMs: 60_000,
  title: 'The agent of each node covers every running pod there that is labelled svc/protected=true',
  cause:
    'The agent does not see the cgroups of pods (no cgroup v2, or SVC_CGROUP_ROOT is not where the host mounts them), may not list pods, or has a wrong NODE_NAME; or its table in the kernel is full.',
  fix: 'Read /healthz and /readyz on port 9090 of the agent, which name the pods and say why; mount /sys/fs/cgroup of the host there.',
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    const running = labelled.filter((pod) => pod.running);
    const wanted = Map.groupBy(running, ({ node }) => node);
    return judgeAgents(context, (facts, node) => coverageProblem(facts, wanted.get(node)?.length ?? 0));
  },
});

const maxNamed = 5;

function coverageProblem(
  { coveredPods, uncoveredPods }: AgentFacts,
  wanted: number,
): Omit<CheckFailure, 'subject'> | undefined {
  if (uncoveredPods.length > 0) {
    const named = uncoveredPods.slice(0, maxNamed).join(', ');
    return { message: `${counted(uncoveredPods.length, 'labelled pod')} not covered, such as ${named}.` };
  }
  if (coveredPods >= wanted) return undefined;
  return { message: `${counted(wanted, 'labelled pod')} wanted, ${coveredPods} covered.` };
}

export const agentChecks: readonly Check[] = [coverage, canary, tier, losses, priority, podsCovered];
