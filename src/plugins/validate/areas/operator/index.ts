import { isDeepStrictEqual } from 'node:util';
import { type CustomResourceDefinition, readDefinitions } from '../../../../cluster/resources/definitions.ts';
import type { Condition } from '../../../../cluster/resources/resources.ts';
import { secretReferences as referencesOf } from '../../../../cluster/score/factors.ts';
import { counted } from '../../../../runtime/units.ts';
import {
  type Check,
  type CheckFailure,
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
  leaderOf,
  operatorMetrics,
  operatorOf,
  samplesOf,
} from '../../cluster/operator.ts';
import { protectedPodsOf } from '../../cluster/pods.ts';
import { capped, getObject, secretMappingsOf, serviceConfigsOf } from '../../cluster/read.ts';
import { admissionPolicy } from './admission-policy.ts';
import { authoritiesExist } from './authorities.ts';
import { annotatedPodMutated, configuredPodMutated } from './pods-mutated.ts';
import { fieldsNamed, podsWrapped, tokenAudience, verification, wrappersCurrent } from './pods-wrapped.ts';
import { assertConfigured, webhookBundle, webhookEntries, webhookSelectors, webhooksOf } from './webhook.ts';

const nearMs = 7 * 86_400_000;

const available: Check = {
  ...{ id: 'SVC-OPERATOR-001', area: 'operator', level: 'error', needs: 'cluster' },
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
};

const leads: Check = {
  ...{ id: 'SVC-OPERATOR-002', area: 'operator', level: 'error', needs: 'cluster' },
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
};

const replicas: Check = {
  ...{ id: 'SVC-OPERATOR-003', area: 'operator', level: 'info', needs: 'cluster' },
  title: 'The operator runs in three replicas',
  cause: 'Without high availability, no protected pod can start while the only replica is moved or upgraded.',
  fix: 'Set operator.ha=true in the chart if pods must start at any time.',
  async run(context) {
    const operator = await operatorOf(context);
    assertInstalled(operator);
    const { wanted, namespace, name } = operator;
    if (wanted >= 3) return passed(counted(wanted, 'replica'));
    return failed({ subject: `${namespace}/${name}`, message: `It has ${wanted} of them.` });
  },
};

const development: Check = {
  ...{ id: 'SVC-OPERATOR-006', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'The operator does not run in development mode',
  cause: 'operator.development=true permits pods that do not verify the certificate of the secrets server.',
  fix: 'Set operator.development=false in the chart.',
  async run(context) {
    const operator = await operatorOf(context);
    assertInstalled(operator);
    if (operator.env['SVC_OPERATOR_DEVELOPMENT'] !== 'true') return passed();
    return failed({
      subject: `${operator.namespace}/${operator.name}`,
      message: 'SVC_OPERATOR_DEVELOPMENT is true.',
    });
  },
};

const webhookFailsClosed: Check = {
  ...{ id: 'SVC-OPERATOR-008', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'Pods are refused while the webhook cannot be reached (failurePolicy Fail)',
  cause: 'With failurePolicy Ignore, pods start unprotected, with any settings, while no operator responds.',
  fix: 'Set operator.webhook.failurePolicy=Fail, and apply the chart again.',
  async run(context) {
    const webhooks = await webhooksOf(context);
    assertConfigured(webhooks);
    const open = webhooks.filter(({ failurePolicy = 'Fail' }) => failurePolicy !== 'Fail');
    return verdict(
      open.map(({ name, failurePolicy }) => ({
        subject: name,
        message: `Its failurePolicy is ${failurePolicy}.`,
      })),
    );
  },
};

const certificateExpiry: Check = {
  ...{ id: 'SVC-OPERATOR-011', area: 'operator', level: 'error', needs: 'cluster' },
  title: "The operator's certificate is valid for a week or more",
  cause: 'The operator cannot renew it, or the one of operator.webhook.certSecret was not renewed.',
  fix: 'See certificates.* in the log of the operator, or renew the certificate of certSecret.',
  async run(context) {
    assertInstalled(await operatorOf(context));
    const [sample] = samplesOf(await operatorMetrics(context), 'svc_certificate_not_after_seconds');
    if (sample === undefined) return notEvaluated('The operator does not say when its certificate expires');
    const endMs = sample.value * 1_000;
    const end = new Date(endMs).toISOString();
    const subject = `${context.config.operatorNamespace}/svc-operator`;
    if (context.now() >= endMs) return failed({ subject, message: `It expired at ${end}.` });
    if (endMs - context.now() >= nearMs) return passed(`until ${end}`);
    return failed({ subject, message: `It expires at ${end}.`, level: 'warning' });
  },
};

const serviceConfigs: Check = {
  ...{ id: 'SVC-OPERATOR-013', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'Every ServiceConfig is valid and in force',
  cause:
    'An error in its spec, a SecretMapping that is missing, or a namespace whose label somebody else manages.',
  fix: 'Do what its conditions say: kubectl describe serviceconfig.',
  async run(context) {
    const configs = (await serviceConfigsOf(context)) ?? [];
    if (configs.length === 0) return skipped('There are no ServiceConfigs');
    return verdict(
      capped(configs.flatMap((config) => conditionFailures(config, ['Valid', 'Ready']))),
      counted(configs.length, 'ServiceConfig'),
    );
  },
};

const secretMappings: Check = {
  ...{ id: 'SVC-OPERATOR-014', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'Every SecretMapping is valid',
  cause: 'Paths or names of variables in it are wrong, or contradict each other.',
  fix: 'Do what its conditions say: kubectl describe secretmapping.',
  async run(context) {
    const mappings = (await secretMappingsOf(context)) ?? [];
    if (mappings.length === 0) return skipped('There are no SecretMappings');
    return verdict(
      capped(mappings.flatMap((mapping) => conditionFailures(mapping, ['Valid']))),
      counted(mappings.length, 'SecretMapping'),
    );
  },
};

const secretReferences: Check = {
  ...{ id: 'SVC-OPERATOR-017', area: 'operator', level: 'warning', needs: 'cluster', timeoutMs: 60_000 },
  title: 'No protected pod is given a Kubernetes Secret',
  cause:
    'The values of Kubernetes Secrets are in etcd and in the API server, where the provider of the cluster can read them.',
  fix: 'Move the values to the secrets server, name their path in svc/secret-paths, and remove the reference.',
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    if (labelled.length === 0) return skipped('There are no protected pods');
    const failures = labelled.flatMap(({ key, pod }) => {
      const [first, ...others] = referencesOf(pod);
      if (first === undefined) return [];
      const more = others.length > 0 ? `, and ${others.length} more` : '';
      return [{ subject: key, message: `A Secret reaches it as ${first}${more}.` }];
    });
    return verdict(capped(failures), counted(labelled.length, 'pod'));
  },
};

const definitions: Check = {
  ...{ id: 'SVC-OPERATOR-005', area: 'operator', level: 'error', needs: 'cluster' },
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
};

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

const versions: Check = {
  ...{ id: 'SVC-OPERATOR-004', area: 'operator', level: 'warning', needs: 'cluster' },
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
};

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
  ...[available, leads, replicas, versions, definitions, development],
  ...[webhookEntries, webhookFailsClosed, webhookSelectors, webhookBundle, certificateExpiry],
  ...[annotatedPodMutated, configuredPodMutated, serviceConfigs, secretMappings],
  ...[podsWrapped, wrappersCurrent, secretReferences, verification, tokenAudience],
  ...[authoritiesExist, admissionPolicy, fieldsNamed],
];
