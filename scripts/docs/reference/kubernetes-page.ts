import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { annotationTable } from '../operator/annotations.ts';
import { code, codes } from '../operator/cell.ts';
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
