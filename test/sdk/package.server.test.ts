import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runCommand } from '../support/run-command.ts';
import { regionWith } from '../support/secret-region.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { inherit } from '../support/with-descriptor.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = `${ROOT}node_modules/typescript/bin/tsc`;

/** A folder with the sources of a program that has this package among its own. */
const consumer = temporaryFolder('consumer');
mkdirSync(`${consumer.path}/node_modules`);
symlinkSync(ROOT, `${consumer.path}/node_modules/svc`);

function source(name: string, text: string): string {
  writeFileSync(`${consumer.path}/${name}`, text);
  return `${consumer.path}/${name}`;
}

const test = suite('sdk package svc/secrets');

for (const [name, load] of [
  ['module.mjs', "const { open } = await import('svc/secrets');"],
  ['common.cjs', "const { open } = require('svc/secrets');"],
] as const) {
  test(`${name} reads secrets with the built package`, async () => {
    const file = source(name, `${load} console.log(open().get('A'));`);
    const region = regionWith([['A', 'one']]);
    const program = await inherit([process.execPath, file], region.descriptor);
    assert.equal(await program.exited, { code: 0, signal: null }, program.errors());
    assert.is(program.output(), 'one\n');
    region.release();
  });
}

async function compile(name: string, text: string): Promise<string> {
  const options = ['--noEmit', '--strict', '--module', 'nodenext'];
  const { stdout } = await runCommand(process.execPath, [TSC, ...options, source(name, text)], consumer.path);
  return stdout;
}

test('its types are there', async () => {
  const program = `import { open, type Store } from 'svc/secrets';
    const store: Store = open({ environment: { A: '1' } });
    const value: string = store.get('A');
    const names: string[] | undefined = store.keys();
    export { value, names };`;
  assert.is(await compile('right.mts', program), '');
  assert.match(await compile('wrong.mts', `${program} store.get(1);`), /wrong\.mts.*TS2345/);
});

test('the built demo starts', async () => {
  const demo = await inherit([process.execPath, `${ROOT}dist/sdk/demo.js`], undefined, { PORT: 'none' });
  assert.is((await demo.exited).code, 78);
  assert.match(demo.errors(), 'PORT="none"');
});

test.after(() => consumer.remove());
test.run();
