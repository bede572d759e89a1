import { permissionTable } from '../operator/permissions.ts';

/** What the operator may do in a cluster. */
export function permissionsPage(): string[] {
  return [
    ...['# Permissions of the operator', ''],
    'The first rows are the specification’s table; the others follow from its duties. What limits them and what does not:',
    '[OPERATOR.md](../OPERATOR.md#what-it-may-do).',
    '',
    ...permissionTable(),
  ];
}
