import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isRunning } from '../support/is-running.ts';
import { temporaryFolder } from '../support/temporary.ts';

export const slow = true;

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const FIXTURES = fileURLToPath(new URL('./fixtures', import.meta.url));

interface Run {
  status: number | null;
  output: string;
  last: string;
}

function run(args: string[], env: Record<string, string> = {}): Run {
  const { status, stdout } = spawnSync(
    process.execPath,
    [MAIN, '--root', FIXTURES, '--exit-grace', '3000', '--timeout', '20000', ...args],
    { encoding: 'utf8', env: { ...process.env, CI: '', ...env } },
  );
  return { status, output: stdout, last: stdout.trimEnd().split('\n').at(-1) ?? '' };
}

const folder = temporaryFolder('runner');
const fixture = (name: string) => `fixtures/${name}.test.ts`;

function fails(name: string, last: string, message: RegExp, args: string[] = []): void {
  const { status, output, last: seen } = run([fixture(name), ...args]);
  assert.is(seen, last);
  assert.match(output, message);
  assert.is(status, 1);
}

const runner = suite('runner');
runner.after(() => folder.remove());

runner('counts what passes', () => {
  const { status, output, last } = run([fixture('passes')]);
  assert.is(last, '2 passed, 0 failed');
  assert.match(output, /^ok .* 2 passed, 0 failed {2}\d+ ms, \d+0 ms of CPU$/m);
  assert.is(status, 0);
});

runner('shows the difference, and the output, of a failing test', () => {
  fails('fails', '2 passed, 1 failed', /fails › is wrong[\s\S]*colour[\s\S]*seen on standard output/);
});

for (const hook of ['before', 'after']) {
  runner(`fails on a throwing ${hook} hook`, () => {
    fails(
      `throwing-${hook}`,
      `${hook === 'after' ? 1 : 0} passed, 1 failed`,
      new RegExp(`the ${hook} hook broke`),
    );
  });
  runner(`fails on a throwing ${hook}.each hook`, () => {
    fails(`throwing-${hook}-each`, '0 passed, 1 failed', new RegExp(`the ${hook}.each hook broke`));
  });
}

runner('fails on a suite that is never run', () => {
  fails('no-run', '0 passed, 2 failed', /forgotten[\s\S]*never run/);
});

runner('fails on tests that come while their suite runs', () => {
  fails('late-tests', '1 passed, 1 failed', /late tests[\s\S]*while it ran/);
});

runner('fails on a file without a suite', () => {
  fails('no-suite', '0 passed, 1 failed', /runs no suite/);
});

runner('fails on a suite without tests', () => {
  fails('no-tests', '0 passed, 1 failed', /has no tests/);
});

runner('fails on an import error', () => {
  fails('import-error', '0 passed, 1 failed', /import\n.*broken while loading/);
});

runner('fails when a file takes too long', () => {
  fails('hangs', '0 passed, 1 failed', /waits for ever\n.*Time-out/, ['--timeout', '1500']);
});

runner('takes the time limit that a file exports', () => {
  fails('own-timeout', '0 passed, 1 failed', /longer than 250 ms/);
});

runner('has no time pass while a tool is being built', () => {
  fails('waits-for-tool', '1 passed, 1 failed', /then hangs\n.*longer than 300 ms/);
});

runner('keeps what a file took, and shows the dearest where it is asked', () => {
  const times = join(folder.path, 'times.tsv');
  const { output } = run([fixture('passes'), '--times', times, '--dearest']);
  assert.match(readFileSync(times, 'utf8'), /^test\/runner\/fixtures\/passes\.test\.ts\t\d+\t\d+\n$/);
  assert.match(output, /^ +\d+\.\d s of CPU +\d+\.\d s {2}test\/runner\/fixtures\/passes\.test\.ts$/m);
});

runner('fails when the process does not exit, and names what holds it', () => {
  fails('open-handle', '1 passed, 1 failed', /did not exit[\s\S]*TCPServerWrap/);
});

runner('fails on an unhandled rejection', () => {
  fails('unhandled-rejection', '1 passed, 1 failed', /unhandled rejection[\s\S]*nobody looks at this/);
});

runner('fails on a test that never settles', () => {
  fails('pending', '0 passed, 1 failed', /never settles[\s\S]*event loop drained/);
});

runner('fails when a test ends the process', () => {
  fails('exits', '0 passed, 1 failed', /leaves with success[\s\S]*before its tests did/);
});

runner('fails when the process ends with a status of its own', () => {
  fails('exit-code', '1 passed, 1 failed', /status 3 after its tests/);
});

runner('skips a suite whose tool is missing, and says why', () => {
  const { status, output, last } = run([fixture('tool-unavailable')]);
  assert.is(last, '0 passed, 0 failed, 2 skipped');
  assert.match(output, /skipped needy.*: bao: no package index answers/);
  assert.is(status, 0);
});

runner('takes a skip for a failure where CI=true', () => {
  const { status, output, last } = run([fixture('tool-unavailable'), fixture('only')], { CI: 'true' });
  assert.is(last, '1 passed, 2 failed');
  assert.match(output, /Skipped although CI=true[\s\S]*marked \.only/);
  assert.is(status, 1);
});

runner('fails on a fragment that matches nothing, beside one that does', () => {
  const { status, output, last } = run([fixture('passes'), 'no-such-file']);
  assert.is(last, '2 passed, 1 failed');
  assert.match(output, /no-such-file › selection/);
  assert.is(status, 1);
});

runner('ends the processes that a file leaves behind', () => {
  const { output } = run([fixture('leaves-child')]);
  const pid = Number(/orphan (\d+)/.exec(output)?.[1]);
  assert.ok(pid > 0);
  assert.not.ok(isRunning(pid));
});

runner('refuses an unknown option with status 2', () => {
  assert.is(run(['--no-such-option']).status, 2);
});

runner.run();
