import { isDeepStrictEqual } from 'node:util';
import type { CustomResourceDefinition } from '../../../../core/custom-resources/definition.ts';
import { definitions as own } from '../../../../core/custom-resources/definitions.ts';
import { getObject } from '../../cluster/read.ts';
import type { Check, CheckFailure } from '../../contract.ts';
import { verdict } from '../../results.ts';

export const definitions: Check = {
  ...{ id: 'SVC-OPERATOR-005', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'The custom resources are established, with the schemas of this version',
  cause:
    'They are not installed, their names clash with those of others, or an upgrade left them as they were.',
  fix: 'Apply the custom resources of this version of the chart; helm upgrade does so.',
  async run(context) {
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
