import { isDeepStrictEqual } from 'node:util';
import { type CustomResourceDefinition, readDefinitions } from '../../../../cluster/resources/definitions.ts';
import type { Condition } from '../../../../cluster/resources/resources.ts';
import { secretReferences as referencesOf } from '../../../../cluster/score/factors.ts';
import { counted } from '../../../../runtime/units.ts';
import {
  type Check,
  type CheckFailure,
  type CheckResult,
  failed,
  notEvaluated,
  passed,
  skipped,
  verdict,
} from '../../check.ts';
import {
  agentsOf,
  assertInstalled,
  type InstalledOperator,
  installedCheck,
  leaderOf,
  operatorMetrics,
  operatorOf,
  samplesOf,
} from '../../cluster/operator.ts';
import { protectedPodsOf } from '../../cluster/pods.ts';
import { capped, getObject, secretMappingsOf, serviceConfigsOf } from '../../cluster/read.ts';
import { clusterCheck } from '../../make-check.ts';
import { admissionPolicy } from './admission-policy.ts';
import { authoritiesExist } from './authorities.ts';
import { annotatedPodMutated, configuredPodMutated } from './pods-mutated.ts';
import {
  fieldsNamed,
  judgePods,
  podsWrapped,
  tokenAudience,
  verification,
  wrappersCurrent,
} from './pods-wrapped.ts';
import { webhookBundle, webhookEntries, webhookSelectors, webhooksCheck } from './webhook.ts';

const nearMs = 7 * 86_400_000;

const available = clusterCheck('SVC-OPERATOR-001', 'error', {
  title: 'The operator is installed, and all of its replicas are ready',
  cause:
    'The chart is not installed, or its pods cannot start: images, quotas, taints, or settings of the operator.',
  fix: 'Install the chart, or look at kubectl -n svc-system describe deployment svc-operator and at the log of its pods.',
  async run(context) {
    const subject = `${context.config.operatorNamespace}/svc-operator`;
    const operator = await operatorOf(context);
    if (operator === undefined) return failed({ subject, message: 'There is no such Deployment.' });
    const { ready, wanted, updated } = operator;
    if (ready === 0)
      return failed({ subject, message: 'No replica is ready: pods that ask for protection are refused.' });
    if (ready < wanted || updated < wanted) {
      const message = `Of ${wanted} replicas ${ready} are ready and ${updated} are of its current template.`;
      return failed({ subject, message, level: 'warning' });
    }
    return passed(counted(wanted, 'replica'));
  },
});

const leads = clusterCheck('SVC-OPERATOR-002', 'error', {
  title: 'A replica of the operator leads, and maintains policies, statuses and certificates',
  cause: 'No replica can write its lease: none runs, none reaches the API server, or the role is missing.',
  fix: 'Look for leader.* in the log of the operator, and check the Role svc-operator in its namespace.',
  async run(context) {
    const [operator, leader] = await Promise.all([operatorOf(context), leaderOf(context)]);
    assertInstalled(operator);
    const subject = `${operator.namespace}/${operator.name}`;
    if (leader === undefined) return failed({ subject, message: 'There is no lease svc-operator.' });
    if (leader.holder === '') return failed({ subject, message: 'Nobody holds the lease.' });
    if (leader.fresh) return passed(leader.holder);
    const message = `The lease of ${leader.holder} was last renewed at ${leader.renewTime || 'no time'}.`;
    return failed({ subject, message });
  },
});

const replicas = installedCheck('SVC-OPERATOR-003', 'info', {
  title: 'The operator runs in three replicas',
  cause: 'Without high availability, no protected pod can start while the only replica is moved or upgraded.',
  fix: 'Set operator.ha=true in the chart if pods must start at any time.',
  run({ wanted, namespace, name }) {
    if (wanted >= 3) return passed(counted(wanted, 'replica'));
    return failed({ subject: `${namespace}/${name}`, message: `It has ${wanted} of them.` });
  },
});

const development = installedCheck('SVC-OPERATOR-006', 'error', {
  title: 'The operator does not run in development mode',
  cause: 'operator.development=true permits pods that do not verify the certificate of the secrets server.',
  fix: 'Set operator.development=false in the chart.',
  run(operator) {
    if (operator.env['SVC_OPERATOR_DEVELOPMENT'] !== 'true') return passed();
    return failed({
      subject: `${operator.namespace}/${operator.name}`,
      message: 'SVC_OPERATOR_DEVELOPMENT is true.',
    });
  },
});

const webhookFailsClosed = webhooksCheck('SVC-OPERATOR-008', 'error', {
  title: 'Pods are refused while the webhook cannot be reached (failurePolicy Fail)',
  cause: 'With failurePolicy Ignore, pods start unprotected, with any settings, while no operator responds.',
  fix: 'Set operator.webhook.failurePolicy=Fail, and apply the chart again.',
  run(webhooks) {
    const open = webhooks.filter(({ failurePolicy = 'Fail' }) => failurePolicy !== 'Fail');
    return verdict(
      open.map(({ name, failurePolicy }) => ({
        subject: name,
        message: `Its failurePolicy is ${failurePolicy}.`,
      })),
    );
  },
});

const certificateExpiry = installedCheck('SVC-OPERATOR-011', 'error', {
  title: "The operator's certificate is valid for a week or more",
  cause: 'The operator cannot renew it, or the one of operator.webhook.certSecret was not renewed.',
  fix: 'See certificates.* in the log of the operator, or renew the certificate of certSecret.',
  async run(_operator, context) {
    const [sample] = samplesOf(await operatorMetrics(context), 'svc_certificate_not_after_seconds');
    if (sample === undefined) return notEvaluated('The operator does not say when its certificate expires');
    const endMs = sample.value * 1_000;
    const end = new Date(endMs).toISOString();
    const subject = `${context.config.operatorNamespace}/svc-operator`;
    if (context.now() >= endMs) return failed({ subject, message: `It expired at ${end}.` });
    if (endMs - context.now() >= nearMs) return passed(`until ${end}`);
    return failed({ subject, message: `It expires at ${end}.`, level: 'warning' });
  },
});

const serviceConfigs = clusterCheck('SVC-OPERATOR-013', 'error', {
  title: 'Every ServiceConfig is valid and in force',
  cause:
    'An error in its spec, a SecretMapping that is missing, or a namespace whose label somebody else manages.',
  fix: 'Do what its conditions say: kubectl describe serviceconfig.',
  run: async (context) =>
    judgeConditions('ServiceConfig', (await serviceConfigsOf(context)) ?? [], ['Valid', 'Ready']),
});

const secretMappings = clusterCheck('SVC-OPERATOR-014', 'error', {
  title: 'Every SecretMapping is valid',
  cause: 'Paths or names of variables in it are wrong, or contradict each other.',
  fix: 'Do what its conditions say: kubectl describe secretmapping.',
  run: async (context) =>
    judgeConditions('SecretMapping', (await secretMappingsOf(context)) ?? [], ['Valid']),
});

const secretReferences = clusterCheck('SVC-OPERATOR-017', 'warning', {
  timeoutMs: 60_000,
  title: 'No protected pod is given a Kubernetes Secret',
  cause:
    'The values of Kubernetes Secrets are in etcd and in the API server, where the provider of the cluster can read them.',
  fix: 'Move the values to the secrets server, name their path in svc/secret-paths, and remove the reference.',
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    return judgePods(labelled, 'There are no protected pods', (pod) => {
      const [first, ...others] = referencesOf(pod);
      const more = others.length > 0 ? `, and ${others.length} more` : '';
      return first && `A Secret reaches it as ${first}${more}.`;
    });
  },
});

const definitions = clusterCheck('SVC-OPERATOR-005', 'error', {
  title: 'The custom resources are established, with the schemas of this version',
  cause: 'They are not installed, their names conflict with others, or an upgrade did not update them.',
  fix: 'Apply the custom resources of this version of the chart; helm upgrade does so.',
  async run(context) {
    const found = await Promise.all(
      (await readDefinitions()).map(async (definition) => {
        const { name } = definition.metadata;
        const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
        return problemOf(definition, await getObject<Definition>(context, path));
      }),
    );
    return verdict(found.flat());
  },
});

interface Definition {
  readonly spec: { readonly versions?: readonly Version[] };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message?: string;
    }[];
  };
}

interface Version {
  readonly name: string;
  readonly served?: boolean;
  readonly schema?: object;
}

function problemOf(wanted: CustomResourceDefinition, found: Definition | undefined): readonly CheckFailure[] {
  const subject = wanted.metadata.name;
  if (found === undefined) return [{ subject, message: 'There is no such custom resource.' }];
  const conditions = found.status?.conditions ?? [];
  if (!conditions.some(({ type, status }) => type === 'Established' && status === 'True')) {
    const said =
      conditions.find(({ status }) => status === 'False')?.message ?? 'the API server does not say why';
    return [{ subject, message: `It is not established: ${said}.` }];
  }
  const [version] = wanted.spec.versions;
  const served = found.spec.versions?.find(({ name }) => name === version.name);
  if (served?.served !== true) return [{ subject, message: `${version.name} of it is not served.` }];
  if (isDeepStrictEqual(plain(served.schema), plain(version.schema))) return [];
  return [{ subject, message: 'Its schema is that of another version of svc.', level: 'warning' }];
}

/** Removes empty members, as the API server does. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, one]) => [name, plain(one)] as const);
  return Object.fromEntries(members.filter(([, one]) => !isEmpty(one)));
}

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;

interface Conditioned {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly status: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
}

function judgeConditions(kind: string, all: readonly Conditioned[], types: readonly string[]): CheckResult {
  if (all.length === 0) return skipped(`There are no ${kind}s`);
  return verdict(capped(all.flatMap((one) => conditionFailures(one, types))), counted(all.length, kind));
}

/** The operator's errors for a custom resource; a warning if the operator has not evaluated the resource yet. */
function conditionFailures(
  { namespace, name, generation, status }: Conditioned,
  types: readonly string[],
): readonly CheckFailure[] {
  const subject = `${namespace}/${name}`;
  const { observedGeneration = 0, conditions = [] } = status;
  if (observedGeneration < generation || conditions.length === 0)
    return [
      { subject, message: 'The operator has not looked at it since it was changed.', level: 'warning' },
    ];
  // the first false condition explains the others
  const broken = types
    .flatMap((type) => conditions.filter((one) => one.type === type))
    .find(({ status: state }) => state !== 'True');
  return broken === undefined
    ? []
    : [{ subject, message: `It is not ${broken.type} (${broken.reason}): ${broken.message}` }];
}

const versions = clusterCheck('SVC-OPERATOR-004', 'warning', {
  title: 'Operator, agents and this svc are of the same version',
  cause: 'One of them was upgraded without the others, or a roll-out has not ended.',
  fix: 'Upgrade the release as a whole, wait for its roll-out, and run svc of the same version.',
  async run(context) {
    const found = await Promise.all([operatorOf(context), agentsOf(context)]);
    const installed = found.filter((one) => one !== undefined);
    if (installed.length === 0) return skipped('Neither operator nor agents are installed');
    return verdict(
      installed.flatMap((one) => differences(one, context.version)),
      context.version,
    );
  },
});

function differences({ namespace, name, version, wanted, updated }: InstalledOperator, own: string) {
  const subject = `${namespace}/${name}`;
  const another =
    version === own
      ? []
      : [{ subject, message: `It is of version ${version ?? 'unknown'}, this svc of ${own}.` }];
  const old = wanted - updated;
  return old > 0
    ? [...another, { subject, message: `${old} of its pods are of a template before the current one.` }]
    : another;
}

export const operatorChecks: readonly Check[] = [
  available,
  leads,
  replicas,
  versions,
  definitions,
  development,
  webhookEntries,
  webhookFailsClosed,
  webhookSelectors,
  webhookBundle,
  certificateExpiry,
  annotatedPodMutated,
  configuredPodMutated,
  serviceConfigs,
  secretMappings,
  podsWrapped,
  wrappersCurrent,
  secretReferences,
  verification,
  tokenAudience,
  authoritiesExist,
  admissionPolicy,
  fieldsNamed,
];
