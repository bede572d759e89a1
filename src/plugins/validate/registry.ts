import { isAtLeast } from '../../cluster/kube/server-version.ts';
import { counted } from '../../runtime/units.ts';
import { coverage, judgeAgents, podsCovered, tier } from './areas/agent.ts';
import { nodeArchitectures, nodeKernels, nodeTypes } from './areas/cluster.ts';
import { configurationChecks } from './areas/configuration.ts';
import {
  agentsToOperator,
  connects,
  operatorToApiServer,
  operatorToRegistries,
  podsToSecretsServer,
  proxiesToSecretsServer,
  proxiesToStore,
} from './areas/connectivity.ts';
import { enforced } from './areas/egress/enforced.ts';
import { namesListed, onTrust } from './areas/egress/names.ts';
import { plugin } from './areas/egress/network-plugin.ts';
import { egressOf, notWidened, policyProblems } from './areas/egress/policies.ts';
import { hostChecks } from './areas/host.ts';
import { kekChecks } from './areas/kek.ts';
import { operatorChecks } from './areas/operator/index.ts';
import { bucketThere, ciphertext, factsOf, notPublic, readBack } from './areas/proxy-store.ts';
import { recoveryChecks } from './areas/recovery.ts';
import { kvReadable, kvVersion, roundTrip } from './areas/secrets-server/engines.ts';
import { policyExact, policySuffices, role } from './areas/secrets-server/policy.ts';
import {
  active,
  answers,
  certificateLasts,
  certificateTrusted,
  login,
  sealStatus,
  vaultCheck,
} from './areas/secrets-server/server.ts';
import { type Check, failed, notEvaluated, passed, skipped, verdict } from './check.ts';
import { agentPodsOf, agentsOf } from './cluster/operator.ts';
import { capped, serverVersionOf } from './cluster/read.ts';
import type { Area } from './settings.ts';

const unsealed = vaultCheck(
  {
    id: 'SVC-VAULT-002',
    title: 'The secrets server is initialised and unsealed',
    level: 'error',
    cause:
      'It was restarted without automatic unsealing, or somebody has sealed it. Until it is unsealed nobody can log in.',
    fix: 'Unseal it (bao operator unseal), and set up automatic unsealing with a key of your own in the EU.',
  },
  async ({ address }, context) => {
    const { initialized, sealed } = await sealStatus(context);
    const subject = address.host;
    if (!initialized) return failed({ subject, message: 'It has not been initialised.' });
    return sealed ? failed({ subject, message: 'It is sealed.' }) : passed();
  },
);

const secretsServerChecks: readonly Check[] = [
  ...[answers, unsealed, active, certificateTrusted, certificateLasts],
  ...[login, role, policySuffices, policyExact, roundTrip, kvReadable, kvVersion],
];

const serverVersion: Check = {
  ...{ id: 'SVC-CLUSTER-001', area: 'cluster', level: 'error', needs: 'cluster' },
  title: 'The API server runs Kubernetes 1.28 or later',
  cause:
    'Before 1.28 webhooks have no match conditions: the webhook would be asked about every pod, or about none.',
  fix: 'Upgrade the cluster.',
  async run(context) {
    const version = await serverVersionOf(context);
    if (version === undefined) return notEvaluated('The API server does not report its version');
    const text = `${version.major}.${version.minor}`;
    if (isAtLeast(version, 1, 28)) return passed(text);
    return failed({ subject: 'API server', message: `It runs Kubernetes ${text}.` });
  },
};

const clusterChecks: readonly Check[] = [serverVersion, nodeKernels, nodeTypes, nodeArchitectures];

/** One check for each connection that the specification requires, judged by what the components report. */
const fromClusterChecks: readonly Check[] = [
  ...[podsToSecretsServer, operatorToApiServer, operatorToRegistries],
  ...[proxiesToStore, proxiesToSecretsServer, agentsToOperator],
];

const secretsServerConnects: Check = {
  ...{ id: 'SVC-NET-050', area: 'connectivity', level: 'error', needs: 'vault' },
  title: 'The secrets server accepts connections from here',
  cause: 'DNS does not resolve its name here, nothing listens on the port, or a firewall is in between.',
  fix: 'Permit connections from application pods and proxies to the secrets server, on port 443 or that of VAULT_ADDR.',
  run: async (context, signal) => connects((await context.vault()).address, signal),
};

const objectStoreConnects: Check = {
  ...{ id: 'SVC-NET-051', area: 'connectivity', level: 'error', needs: 'store' },
  title: 'The object store accepts connections from here',
  cause: 'DNS does not resolve its name here, nothing listens on the port, or a firewall is in between.',
  fix: 'Permit connections from proxies to the object store, on port 443 or that of --upstream.',
  run: async (context, signal) => connects((await context.store()).address, signal),
};

/** Connections from where the command runs, with or without a cluster. */
const fromHereChecks: readonly Check[] = [secretsServerConnects, objectStoreConnects];

const canary: Check = {
  ...{ id: 'SVC-AGENT-002', area: 'agent', level: 'error', needs: 'cluster', timeoutMs: 60_000 },
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
};

const losses: Check = {
  ...{ id: 'SVC-AGENT-004', area: 'agent', level: 'warning', needs: 'cluster', timeoutMs: 60_000 },
  title: 'The tables of the agents have never been full',
  cause: 'The tables in the kernel are too small for the number of protected processes or of attempts.',
  fix: 'Spread protected pods over more nodes, and look for an attack: svc_agent_lost_total says what was lost.',
  run: (context) =>
    judgeAgents(context, ({ lost }) =>
      lost > 0 ? { message: `${lost} entries found no room since the agent started.` } : undefined,
    ),
};

const priority: Check = {
  ...{ id: 'SVC-AGENT-005', area: 'agent', level: 'warning', needs: 'cluster' },
  title: 'Agents are evicted last (priority class system-node-critical)',
  cause:
    'The DaemonSet was changed: a node short of memory evicts the agent before the pods that it protects.',
  fix: 'Apply the chart again.',
  async run(context) {
    const agents = await agentsOf(context);
    if (agents === undefined) return skipped('The agents are not installed');
    const { namespace, name, priorityClass = 'none' } = agents;
    if (priorityClass === wanted) return passed();
    return failed({ subject: `${namespace}/${name}`, message: `Its priority class is ${priorityClass}.` });
  },
};

const agentChecks: readonly Check[] = [coverage, canary, tier, losses, priority, podsCovered];

const applied: Check = {
  ...{ id: 'SVC-EGRESS-001', area: 'egress', level: 'error', needs: 'cluster', timeoutMs: 90_000 },
  title: 'Every namespace with protected pods has the egress policies that svc netpol would write',
  cause:
    'The operator does not run or may not write policies, somebody changed one, or another object has the name of one. If a policy lists addresses other than those that DNS returns here, that is a warning. If DNS returns none of them here, or only some, the addresses in the policies count, and the result names them.',
  fix: 'See egress.* in the log of the operator; or apply the output of svc netpol.',
  async run(context) {
    const all = await egressOf(context);
    if (all.length === 0) return skipped('No namespace has protected pods or ServiceConfigs');
    return verdict(capped(all.flatMap(policyProblems)), counted(all.length, 'namespace'), onTrust(all));
  },
};

const egressChecks: readonly Check[] = [applied, notWidened, plugin, enforced, namesListed];

const versioning: Check = {
  ...{ id: 'SVC-STORE-004', area: 'proxy-store', level: 'info', needs: 'store' },
  title: 'The bucket keeps versions',
  cause:
    'Versioning is off: what is overwritten or deleted, by mistake or by the store, is gone. Encryption does not help against that.',
  fix: 'Enable versioning, with a lifecycle rule that excludes .svc/.',
  async run(context) {
    const { bucket } = await context.store();
    const { versioning: state } = await factsOf(context);
    if (state === undefined) return skipped('The store does not say.');
    return state === 'Enabled'
      ? passed()
      : failed({ subject: bucket, message: `Versioning is ${state.toLowerCase()}.` });
  },
};

const proxyStoreChecks: readonly Check[] = [bucketThere, ciphertext, readBack, versioning, notPublic];

/** All checks, in display order. */
export const checks: readonly Check[] = [
  ...configurationChecks,
  ...secretsServerChecks,
  ...kekChecks,
  ...clusterChecks,
  ...fromClusterChecks,
  ...fromHereChecks,
  ...operatorChecks,
  ...agentChecks,
  ...egressChecks,
  ...proxyStoreChecks,
  ...recoveryChecks,
  ...hostChecks,
];

const wanted = 'system-node-critical';

export interface CheckSelection {
  /** Checks that need no cluster. */
  readonly pre: boolean;
  /** Checks of this machine as a node. */
  readonly node: boolean;
  /** Checks of what recovery keys open. */
  readonly rehearsal: boolean;
  readonly areas: readonly Area[];
  readonly ids: readonly string[];
}

/**
 * Areas and ids select exactly these checks, in addition to a rehearsal. Without them, `node` selects the machine,
 * `rehearsal` what recovery keys open, and `pre` everything else that needs no cluster; several flags select their
 * union, no flag everything except for machine and rehearsal. `pre` always excludes checks that need a cluster.
 */
export function selected(checks: readonly Check[], selection: CheckSelection): readonly Check[] {
  const { pre, node, rehearsal, areas, ids } = selection;
  const named = areas.length + ids.length > 0;
  return checks.filter((check) => {
    const { id, area, needs } = check;
    if (pre && needs === 'cluster') return false;
    if (area === 'recovery' && rehearsal) return true;
    if (named) return areas.includes(area) || ids.includes(id);
    if (area === 'recovery') return false;
    if (area === 'host') return node;
    return pre || !(node || rehearsal);
  });
}

/**
 * If there are errors, adds the check of variables: invalid variables count as not given, so other checks may examine
 * something unintended. Checks of the machine need no variables.
 */
export function reportingOfErrors(
  some: readonly Check[],
  checks: readonly Check[],
  errors: readonly string[],
): readonly Check[] {
  const concerned = some.some(({ needs }) => needs !== 'none' && needs !== 'node');
  if (errors.length === 0 || !concerned) return some;
  return checks.filter((check) => check.id === errorsCheck || some.includes(check));
}

const errorsCheck = 'SVC-CONFIG-001';

/** What to ignore, by id: everything that the check reports, or its findings on some subjects. */
export interface Ignores {
  ignoresCheck(id: string): boolean;
  ignoresSubject(id: string, subject: string): boolean;
  /** Warnings about unknown ids. */
  readonly warnings: readonly string[];
}

/** @param given `SVC-…-001` or `SVC-…-001=namespace/name` */
export function readIgnores(given: readonly string[], checks: readonly Check[]): Ignores {
  const whole = new Set<string>();
  const parts = new Set<string>();
  for (const one of given) (one.includes('=') ? parts : whole).add(one);
  const known = new Set(checks.map(({ id }) => id));
  return {
    ignoresCheck: (id) => whole.has(id),
    ignoresSubject: (id, subject) => whole.has(id) || parts.has(`${id}=${subject}`),
    warnings: given
      .filter((one) => !known.has(one.split('=', 1)[0] ?? ''))
      .map((one) => `--ignore ${JSON.stringify(one)}: there is no check with that id`),
  };
}
