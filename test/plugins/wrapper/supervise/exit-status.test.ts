import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { runWrapper } from './support/wrapper-process.ts';

export const slow = true;

const exitStatuses = suite('exit status of a supervised application');
let folder: TemporaryFolder;

exitStatuses.before(() => {
  folder = temporaryFolder('supervise');
});
exitStatuses.after(() => folder.remove());

function file(name: string, text: string, mode: number): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

async function failure(command: string): Promise<[status: number, code: string, message: string]> {
  const { status, events } = await runWrapper([command]);
  const failed = events.find((event) => event.kind === 'failed');
  return [status, failed?.code ?? '', failed?.message ?? ''];
}

for (const status of [0, 7, 255]) {
  exitStatuses(`${status} is passed on`, async () => {
    assert.is((await runWrapper(['sh', '-c', `exit ${status}`])).status, status);
  });
}

for (const [signal, status] of [
  [15, 143],
  [9, 137],
  [11, 139],
] as const) {
  exitStatuses(`killed by signal ${signal}: ${status}`, async () => {
    assert.is((await runWrapper(['sh', '-c', `kill -${signal} $$`])).status, status);
  });
}

exitStatuses('a program that is not in PATH: 127', async () => {
  const [status, code, message] = await failure('svc-no-such-program');
  assert.equal([status, code], [127, 'PROGRAM_NOT_FOUND']);
  assert.match(message, 'svc-no-such-program');
});

exitStatuses('a path that is not there, also below a file: 127', async () => {
  assert.is((await failure(join(folder.path, 'none')))[0], 127);
  assert.is((await failure('/etc/passwd/none'))[0], 127);
});

exitStatuses('a file without permission to execute, and a folder: 126', async () => {
  const plain = file('plain', 'text', 0o644);
  assert.equal((await failure(plain)).slice(0, 2), [126, 'PROGRAM_NOT_EXECUTABLE']);
  assert.equal((await failure(folder.path)).slice(0, 2), [126, 'PROGRAM_NOT_EXECUTABLE']);
});

exitStatuses('a text file without #!: 126, it is not given to a shell', async () => {
  const [status, code, message] = await failure(file('shebangless', 'exit 3\n', 0o755));
  assert.equal([status, code], [126, 'PROGRAM_NOT_EXECUTABLE']);
  assert.match(message, '#!');
});

exitStatuses('a script whose interpreter is not there: 127, and the message says so', async () => {
  const [status, code, message] = await failure(file('lost', '#!/no/such/shell\n', 0o755));
  assert.equal([status, code], [127, 'PROGRAM_NOT_FOUND']);
  assert.match(message, 'interpreter');
});

exitStatuses('arguments and the whole environment arrive', async () => {
  const { output } = await runWrapper(
    ['sh', '-c', 'printf "%s|" "$0" "$@" "$HOME"', 'a', '', 'b c', 'ü'],
    {},
  );
  assert.is(output, `a||b c|ü|${process.env['HOME'] ?? ''}|`);
});

exitStatuses.run();
