import { checkStatus } from '../../../src/core/check-outcome.ts';
import { exitStatus } from '../../../src/core/errors.ts';
import { programStatus } from '../../../src/runtime/native/spawn.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, codes } from '../operator/cell.ts';
import { checkingCommands } from './checking-commands.ts';
import { documentationOf, membersOf } from './source-tree.ts';

/** Every status that a process of svc ends with. */
export function exitStatusesPage(): string[] {
  return [
    ...['# Exit statuses', '', '## Components and commands', ''],
    ...['0 is done; 2 is a command line that oclif refuses. After sysexits(3):', ''],
    ...statusTable('src/core/errors.ts', 'exitStatus', exitStatus),
    ...['', '## The wrapper', ''],
    ...[
      'It ends with the status of its application, and with 128 + n where signal n ended that, or ended the wrapper',
    ],
    ...['before there was an application. The statuses above are its own, and, as shells have them:', ''],
    ...statusTable('src/runtime/native/spawn.ts', 'programStatus', programStatus),
    ...['', '## Commands that check', ''],
    ...[`The same in every format: ${codes(checkingCommands())}.`, ''],
    ...statusTable('src/core/check-outcome.ts', 'checkStatus', checkStatus),
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
