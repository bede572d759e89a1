import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FaultyBed, startFaultyBed } from '../plugins/wrapper/support/faulty-bed.ts';
import { temporaryFolder } from '../support/temporary.ts';

const test = suite('svc-wrapper as npm installs it');
const folder = temporaryFolder('npm-wrapper');
const program = fileURLToPath(new URL('../../bin/svc-wrapper.js', import.meta.url));
/** As npm does, beside programs of other packages. */
const installed = join(folder.path, 'svc-wrapper');
const spy = join(folder.path, 'spy.cjs');
const loot = join(folder.path, 'loot');
let bed: FaultyBed;

test.before(async () => {
  symlinkSync(program, installed);
  writeFileSync(
    spy,
    'const { argv, env } = process; require("node:fs").appendFileSync(env.LOOT, argv[1] + " " + env.VAULT_TOKEN + "\\n");',
  );
  bed = await startFaultyBed();
});
test.after.each(() => bed?.clear());
test.after(async () => {
  await bed?.stop();
  await folder.remove();
});

const show = [
  process.execPath,
  '-p',
  'JSON.stringify([process.env.NODE_OPTIONS, process.env.SVC_NODE_OPTIONS])',
];
const looted = () => readFileSync(loot, 'utf8').trim().split('\n');
const options = `--require ${spy} --title="a  b" --no-warnings`;

async function run(entry: readonly string[], env: Record<string, string>, args: readonly string[] = []) {
  writeFileSync(loot, '');
  const wrapper = await bed.start({ entry, args, command: show, env: { LOOT: loot, ...env } });
  const { code } = await wrapper.exited;
  assert.is(code, 0, wrapper.output());
  const seen = JSON.parse(/^\[.*\]$/m.exec(wrapper.output())?.[0] ?? 'null') as unknown;
  return { seen, remarks: wrapper.events('config.remark') };
}

test('NODE_OPTIONS is the application’s and preloads nothing into the wrapper', async () => {
  const { seen, remarks } = await run([installed], { NODE_OPTIONS: options });
  assert.equal(seen, [options, null]);
  assert.equal(looted(), ['undefined undefined'], 'it was loaded once, by an application that has no token');
  assert.equal(remarks, []);
});

test('without NODE_OPTIONS the application has none', async () => {
  assert.equal((await run([installed], {})).seen, [null, null]);
});

test('started by node itself it cannot prevent that, and says so', async () => {
  const { seen, remarks } = await run([process.execPath, program], { NODE_OPTIONS: options });
  assert.equal(seen, [options, null]);
  assert.is(looted().length, 2);
  assert.match(remarks[0]?.['remark'], 'start svc-wrapper by its name');
});

test('svc run wrapper hands NODE_OPTIONS over in the same way', async () => {
  const run_js = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
  const { seen } = await run([process.execPath, run_js, 'run', 'wrapper'], { NODE_OPTIONS: options });
  assert.equal(seen, [options, null]);
  assert.equal(
    looted().filter((line) => line.includes('wrapper.cjs')),
    [],
  );
});

test('the first line is one that every kernel takes whole', () => {
  const [first = ''] = readFileSync(program, 'utf8').split('\n');
  assert.ok(first.length <= 127);
});

test.run();
