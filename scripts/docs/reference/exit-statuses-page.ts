import { exitStatus } from '../../../src/runtime/errors.ts';
import { programStatus } from '../../../src/runtime/native/spawn.ts';
import { checkStatus } from '../../../src/runtime/report/check-outcome.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, codes } from '../operator/cell.ts';
import { checkingCommands } from './checking-commands.ts';
import { documentationOf, membersOf } from './source-tree.ts';

/** Every status that a process of svc ends with. */
export function exitStatusesPage(): string[] {
  return [
    ...['# Exit statuses', '', '## Components and commands', ''],
    ...['0: done; 2: oclif refused the command line. The others follow sysexits(3):', ''],
    ...statusTable('src/runtime/errors.ts', 'exitStatus', exitStatus),
    ...['', '## The wrapper', ''],
    ...[
      'It ends with the status of its application, or with 128 + n if signal n ended the application, or the wrapper before',
    ],
    ...['the application started. It adds the statuses above and, like a shell:', ''],
    ...statusTable('src/runtime/native/spawn.ts', 'programStatus', programStatus),
    ...['', '## Commands that check', ''],
    ...[`The same in every format: ${codes(checkingCommands())}.`, ''],
    ...statusTable('src/runtime/report/check-outcome.ts', 'checkStatus', checkStatus),
  ];
}

/** @throws Error where the object has members that are not written out with a comment each */
function statusTable(path: string, name: string, values: Readonly<Record<string, number>>): string[] {
  const rows = membersOf(path, name).map((member) => [
    String(values[member.name.getText()]),
    cell(documentationOf(member)),
  ]);
  if (rows.length !== Object.keys(values).length) throw new Error(`${name} has members of another kind`);
  return markdownTable(['status', 'meaning'], rows);
}
