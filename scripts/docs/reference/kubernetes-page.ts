import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { annotationTable } from '../operator/annotations.ts';
import { boundTable } from '../operator/bounds.ts';
import { code, codes } from '../operator/cell.ts';
import { exampleRegion } from '../operator/example.ts';
import { resourceTables } from '../operator/resource-fields.ts';
import { objectHeaders, otherMarks } from './kubernetes-names.ts';
import { shippedObjects } from './shipped-objects.ts';

/** Annotations, labels, custom resources and objects of a cluster, and the metadata of stored objects. */
export function kubernetesPage(): string[] {
  return [
    ...['# Annotations, labels and resources', '', '## Annotations of a pod', ''],
    ...['Other names that begin with `svc/` are refused.', ''],
    ...annotationTable(),
    ...['', '## Other marks', ''],
    ...markdownTable(['name', 'kind', 'on', 'meaning'], otherRows()),
    ...['', '## Custom resources', ''],
    ...['All are of `svc.io/v1alpha1` and belong to a namespace.', ''],
    ...resourceTables(),
    ...['', '## A pod before and after', ''],
    'The namespace has no Pod Security level, the container runs as root, and the operator has a private CA (`operator.vaultCA`)',
    'and agents.',
    '',
    ...exampleRegion(),
    ...['', '## Bounds of a pod', ''],
    'No workload comes near them: they keep a large pod from delaying others. Beyond them, a pod that asks for protection is refused,',
    'with the place, the bound and the number; a refusal names the first 50 errors, and of long names the beginning.',
    '',
    'A pod that asks for nothing is let through, however many names and values it has, except for one: with 200,000 of them and 10,000',
    'labels or more, in a namespace with ServiceConfigs, nobody can tell whether one of them selects it. A review that is too long is',
    'not read, so in a protected namespace such a pod is refused, whatever it asks for; the API server writes `<`, `>` and `&` as six',
    'characters.',
    '',
    ...boundTable(),
    ...['', '## Objects that are shipped', ''],
    ...markdownTable(['kind', 'names'], shippedRows()),
    '',
    'The operator keeps `svc-egress-<namespace>` and `svc-egress-<namespace>-store` in namespaces with protected pods, and a',
    'ProtectionReport `svc` in each with something to report.',
    ...['', '## Metadata of encrypted objects', ''],
    ...markdownTable(
      ['header', 'value'],
      Object.entries(objectHeaders).map(([name, meaning]) => [code(name), meaning]),
    ),
  ];
}

const otherRows = (): string[][] =>
  Object.entries(otherMarks).map(([name, [kind, on, meaning]]) => [code(name), kind, on, meaning]);

function shippedRows(): string[][] {
  const names = Map.groupBy(shippedObjects(), ({ kind }) => kind);
  return [...names]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, objects]) => [kind, codes(objects.map(({ metadata }) => metadata.name))]);
}
