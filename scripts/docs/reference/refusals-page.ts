import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { refusals } from './refusals.ts';

/** Every message that whoever makes a pod may meet. */
export function refusalsPage(): string[] {
  return [
    '# Refusals and messages about pods',
    '',
    'A refused pod appears in the events of its ReplicaSet, Job or StatefulSet, not as a pod. Messages of others than the operator',
    'begin with their source. [What the operator does](../OPERATOR.md).',
    '',
    ...markdownTable(
      ['message', 'cause', 'step'],
      refusals.map((row) => [...row]),
    ),
  ];
}
