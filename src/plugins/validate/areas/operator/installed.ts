import { isDeepStrictEqual } from 'node:util';
import type { CustomResourceDefinition } from '../../../../core/custom-resources/definition.ts';
import type { Condition } from '../../../../core/custom-resources/resources.ts';
import { type Check, type CheckFailure, skipped, verdict } from '../../check.ts';
import { agentsOf, type Installed, operatorOf } from '../../cluster/operator.ts';
import { getObject } from '../../cluster/read.ts';

export const definitions: Check = {
  ...{ id: 'SVC-OPERATOR-005', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'The custom resources are established, with the schemas of this version',
  cause:
    'They are not installed, their names clash with those of others, or an upgrade left them as they were.',
  fix: 'Apply the custom resources of this version of the chart; helm upgrade does so.',
  async run(context) {
    const { definitions: own } = await import('../../../../core/custom-resources/definitions.ts');
    const found = await Promise.all(
      Object.values(own).map(async (definition) => {
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
  const [version] = (wanted.spec as Definition['spec']).versions ?? [];
  const served = found.spec.versions?.find(({ name }) => name === version?.name);
  if (served?.served !== true) return [{ subject, message: `${version?.name} of it is not served.` }];
  if (isDeepStrictEqual(plain(served.schema), plain(version?.schema))) return [];
  return [{ subject, message: 'Its schema is that of another version of svc.', level: 'warning' }];
}

/** The API server leaves out what is empty. */
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

/** What the operator says against a custom resource of the user's; a warning where it has not looked at it yet. */
export function conditionFailures(
  { namespace, name, generation, status }: Conditioned,
  types: readonly string[],
): readonly CheckFailure[] {
  const subject = `${namespace}/${name}`;
  const { observedGeneration = 0, conditions = [] } = status;
  if (observedGeneration < generation || conditions.length === 0)
    return [
      { subject, message: 'The operator has not looked at it since it was changed.', level: 'warning' },
    ];
  // the first that does not hold explains the others
  const broken = types
    .flatMap((type) => conditions.filter((one) => one.type === type))
    .find(({ status: state }) => state !== 'True');
  return broken === undefined
    ? []
    : [{ subject, message: `It is not ${broken.type} (${broken.reason}): ${broken.message}` }];
}

export const versions: Check = {
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

function differences({ namespace, name, version, wanted, updated }: Installed, own: string) {
  const subject = `${namespace}/${name}`;
  const another =
    version === own
      ? []
      : [{ subject, message: `It is of version ${version ?? 'that it does not tell'}, this svc of ${own}.` }];
  const old = wanted - updated;
  return old > 0
    ? [...another, { subject, message: `${old} of its pods are of a template before the current one.` }]
    : another;
}
