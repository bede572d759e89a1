import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { wrapperSettings } from '../../../../src/plugins/wrapper/settings.ts';
import { startNodeAgent } from '../../../support/node-agent.ts';
import type { WrapperOptions, WrapperRun } from '../../../support/svc-wrapper.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { type Bed, startBed } from '../support/bed.ts';

const test = suite('what the application finds');
const SVC = [
  process.execPath,
  fileURLToPath(new URL('../../../../bin/run.js', import.meta.url)),
  'run',
  'wrapper',
];
const ENTRY = [process.execPath, fileURLToPath(new URL('../../../../bin/svc-wrapper.js', import.meta.url))];
/** Keeps the environment that the kernel gave it, and prints its parent. */
const SHOW = ['/bin/sh', '-c', 'cat /proc/$$/environ > "$KEPT"; echo "PARENT $PPID"'];

let bed: Bed;
test.before(async () => {
  bed = await startBed();
  await bed.kv.put('app', { user: 'joe-of-the-app', password: 'swordfish-4711', SHARED: 'the-secret-one' });
  await bed.kv.putV1('other', { url: 'sql://over-there', ratio: 0.5 });
});
test.after(() => bed?.stop());

async function shown(
  options: Partial<WrapperOptions>,
): Promise<{ run: WrapperRun; lines: readonly string[] }> {
  const folder = temporaryFolder('environment');
  const kept = join(folder.path, 'environ');
  try {
    const run = await bed.run({ command: SHOW, ...options, env: { KEPT: kept, ...options.env } });
    const { code } = await run.exited;
    assert.is(code, 0, run.output());
    return { run, lines: readFileSync(kept, 'latin1').split('\0') };
  } finally {
    await folder.remove();
  }
}

test('secrets under their names, and nothing of the configuration', async () => {
  const vault = await bed.withToken();
  const { run, lines } = await shown({
    vault,
    paths: ['secret/app', 'kv1/other'],
    env: {
      SVC_ENV_MAP: 'password=DB_PASSWORD;url=DB_URL',
      SHARED: 'inherited',
      SVC_PORT: '80',
      SVC_DELIVERY: 'env',
    },
  });
  const read = Object.values(wrapperSettings).map(({ variable }) => variable);
  const names = lines.map((line) => line.split('=')[0] ?? '');
  assert.equal(
    names.filter((name) => read.includes(name)),
    [],
  );
  assert.match(lines[0] ?? '', /^SVC_WRAPPED=-+$/);
  const expected = [
    'user=joe-of-the-app',
    'DB_PASSWORD=swordfish-4711',
    'SHARED=the-secret-one',
    'DB_URL=sql://over-there',
    'ratio=0.5',
    'SVC_PORT=80',
  ];
  for (const line of expected) assert.ok(lines.includes(line), line);
  assert.ok(!names.includes('password') && !lines.includes('SHARED=inherited'));
  assert.not.match(lines.join('\n'), vault.token ?? '-');
  const told = run.events().filter((line) => JSON.stringify(line).includes('SHARED'));
  assert.is(told.length, 1, run.output());
});

test('with the descriptor alone, no secret is in the environment', async () => {
  const { run, lines } = await shown({ env: { SVC_DELIVERY: 'fd' } });
  assert.not.match(lines.join('\n') + run.output(), /joe-of|swordfish|the-secret/);
  assert.ok(lines.some((line) => /^SVC_SECRET_FD=\d+$/.test(line)));
});

test('bytes that are no text reach the application', async () => {
  const odd = ['/bin/bash', '-c', 'export ODD=$(printf "\\377\\376"); exec "$0" "$@"'];
  const { lines } = await shown({ under: odd, env: { SVC_DELIVERY: 'fd' } });
  assert.ok(lines.includes('ODD=\xff\xfe'));
});

test('the same through the command line tool, which is gone by then', async () => {
  const folder = temporaryFolder('config');
  try {
    const file = join(folder.path, 'svc.yaml');
    writeFileSync(file, 'wrapper:\n  delivery: env\n  env-map: user=FROM_FILE\n  rotation: restart\n');
    const args = [`--config=${file}`, '--rotation=none', '--log-level', 'debug'];
    const { run, lines } = await shown({ entry: SVC, args });
    assert.ok(lines.includes('FROM_FILE=joe-of-the-app') && lines.includes('password=swordfish-4711'));
    assert.match(run.output(), `PARENT ${run.pid}\n`);
    assert.is(run.events('starting')[0]?.['rotation'], 'none');
  } finally {
    await folder.remove();
  }
});

test('the same through bin/svc-wrapper.js', async () => {
  const { lines } = await shown({ entry: ENTRY, args: ['--delivery=env'] });
  assert.ok(lines.includes('user=joe-of-the-app'));
});

for (const [name, entry] of [
  ['svc-wrapper', undefined],
  ['svc run wrapper', SVC],
] as const) {
  for (const exec of ['false', 'true']) {
    test(`pipes are blocking for the application: ${name}, SVC_EXEC=${exec}`, async () => {
      const agent = await startNodeAgent();
      try {
        const look = ['/bin/sh', '-c', 'for fd in 0 1 2; do grep flags /proc/$$/fdinfo/$fd; done'];
        const under = ['/bin/bash', '-c', 'cat | "$0" "$@" 2> >(cat >&2) | cat'];
        const env = { SVC_EBPF_AGENT_ADDR: agent.address, SVC_EXEC: exec, SVC_LOG_FORMAT: 'text' };
        const run = await bed.run({ under, env, command: look, ...(entry ? { entry } : {}) });
        await run.exited;
        const flags = [...run.output().matchAll(/^flags:\s+(\d+)$/gm)].map(([, octal]) =>
          Number.parseInt(octal ?? '', 8),
        );
        assert.is(flags.length, 3, run.output());
        assert.equal(
          flags.filter((one) => one & 0o4000),
          [],
        );
        assert.is(agent.requests[0]?.method, 'Register');
      } finally {
        await agent.stop();
      }
    });
  }
}

test.run();
