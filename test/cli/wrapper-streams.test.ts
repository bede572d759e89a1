import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureBuilt } from './support/svc.ts';

const test = suite("the wrapper's standard streams");
const BUNDLE = fileURLToPath(new URL('../../dist/wrapper.cjs', import.meta.url));
const NON_BLOCKING = 0o4000;
/** Tells the flags of the standard streams, which whoever shares them shares. */
const LOOK = 'for fd in 0 1 2; do sed -n "s/^flags:[[:space:]]*/FLAGS $fd /p" /proc/self/fdinfo/$fd; done';

test.before(ensureBuilt);

/** The pipes are the application's too: Node's own streams would make them non-blocking for it. */
for (const [words, format] of [
  ['-- true', 'text'],
  ['-- true', 'json'],
  ['--help', 'text'],
]) {
  test(`pipes stay as they were, also with ${words} in ${format}`, () => {
    const line = `cat | { "$0" "$1" ${words}; ${LOOK}; } 2> >(cat >&2) | cat`;
    const env = { PATH: process.env['PATH'], SVC_LOG_FORMAT: format };
    const { stdout, stderr } = spawnSync('bash', ['-c', line, process.execPath, BUNDLE], {
      encoding: 'utf8',
      input: '',
      env,
    });
    assert.match(stdout + stderr, words === '--help' ? 'USAGE' : 'CONFIG_INVALID');
    const flags = [...stdout.matchAll(/^FLAGS (\d) (\d+)$/gm)].map(([, fd, text = '']) => [
      fd,
      Number.parseInt(text, 8),
    ]);
    assert.equal(
      flags.map(([fd, bits]) => [fd, Number(bits) & NON_BLOCKING]),
      [
        ['0', 0],
        ['1', 0],
        ['2', 0],
      ],
    );
  });
}

test.run();
