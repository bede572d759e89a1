import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureBuilt } from './support/svc.ts';

const test = suite("the wrapper's standard streams");
const BUNDLE = fileURLToPath(new URL('../../dist/wrapper.cjs', import.meta.url));
/** Loaded before the wrapper: tells at its end which of its standard streams are non-blocking. */
const LOOK = `const { readFileSync, writeSync } = require('node:fs');
const flags = (fd) => parseInt(/flags:\\s+(\\d+)/.exec(readFileSync('/proc/self/fdinfo/' + fd, 'utf8'))[1], 8);
process.on('exit', () => writeSync(1, '\\n' + JSON.stringify([0, 1, 2].filter((fd) => flags(fd) & 0o4000))));
`;

test.before(ensureBuilt);

/** The pipes are the application's too: Node's own streams would make them non-blocking for it. */
for (const [words, format] of [
  ['-- true', 'text'],
  ['-- true', 'json'],
  ['--help', 'text'],
]) {
  test(`pipes stay as they were, also with ${words} in ${format}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-streams-'));
    try {
      writeFileSync(join(folder, 'look.cjs'), LOOK);
      const line = `cat | "$0" --require ./look.cjs "$1" ${words} 2> >(cat >&2) | cat`;
      const env = { PATH: process.env['PATH'], SVC_LOG_FORMAT: format };
      const { stdout, stderr } = spawnSync('bash', ['-c', line, process.execPath, BUNDLE], {
        encoding: 'utf8',
        input: '',
        cwd: folder,
        env,
      });
      assert.match(stdout + stderr, words === '--help' ? 'USAGE' : 'CONFIG_INVALID');
      assert.is(stdout.split('\n').at(-1), '[]');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

test.run();
