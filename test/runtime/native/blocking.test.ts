import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('blocking standard streams');
const MODULE = new URL('../../../src/runtime/native/spawn.ts', import.meta.url).href;

/** Which of 0, 1 and 2 are non-blocking at two moments of a program whose standard streams are pipes. */
function nonBlocking(touch: string): unknown {
  const program = `import { readFileSync, writeSync } from 'node:fs';
    const { makeStandardBlocking } = await import(${JSON.stringify(MODULE)});
    const look = () => [0, 1, 2].filter((fd) =>
      parseInt(/flags:\\s+(\\d+)/.exec(readFileSync('/proc/self/fdinfo/' + fd, 'utf8'))[1], 8) & 0o4000);
    ${touch};
    const before = look();
    makeStandardBlocking();
    writeSync(1, JSON.stringify([before, look()]));
    process.exit();`;
  const args = ['--no-warnings', '--input-type=module-typescript', '-e', program];
  // through cat: Node would give a socket, which it treats in another way
  const line = 'cat | "$0" "$@" 2> >(cat >&2) | cat';
  const { stdout, stderr } = spawnSync('bash', ['-c', line, process.execPath, ...args], {
    encoding: 'utf8',
    input: '',
  });
  assert.ok(stdout, stderr);
  return JSON.parse(stdout);
}

test('undoes what the streams of Node did to pipes', () => {
  const touch = 'process.stdin.resume().pause(); process.stdout.isTTY; process.stderr.isTTY';
  assert.equal(nonBlocking(touch), [[0, 1, 2], []]);
});

test.run();
