import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtinsInParts } from '../../scripts/lib/builtins-in-parts.mjs';
import { entryPoints } from '../../scripts/lib/bundle.mjs';
import { lostExports } from '../../scripts/lib/commonjs-exports.mjs';
import { heavyAtStart, unfitForWrapper, wholeHttp } from '../../scripts/lib/weight.mjs';
import { runCommand } from '../support/run-command.ts';
import { withTree } from './temporary-tree.ts';

const bundle = suite('bundle');

bundle('has an entry for each command, for the entry point and for the public interface', async () => {
  const files = {
    'src/main.ts': '',
    'src/plugin-api/index.ts': '',
    'src/commands/run/proxy.ts': '',
    'src/core/a.ts': '',
  };
  const names = await withTree(files, (root) =>
    entryPoints(root).map((path: string) => path.slice(root.length)),
  );
  assert.equal(names, ['/src/main.ts', '/src/plugin-api/index.ts', '/src/commands/run/proxy.ts']);
});

const output = (inputs: string[], imports: { path: string; kind: string }[] = []) => ({
  inputs: Object.fromEntries(inputs.map((name) => [name, {}])),
  imports,
});

bundle('finds a heavy package that a command loads through a shared chunk', () => {
  const outputs = {
    'dist/main.js': output(['src/main.ts']),
    'dist/commands/run/a.js': output(
      ['src/commands/run/a.ts'],
      [{ path: 'dist/chunks/x.js', kind: 'import-statement' }],
    ),
    'dist/chunks/x.js': output(
      ['node_modules/pino/pino.js'],
      [{ path: 'dist/main.js', kind: 'import-statement' }],
    ),
  };
  const found = heavyAtStart(outputs);
  assert.is(found.length, 1);
  assert.match(found[0] ?? '', /^dist\/commands\/run\/a\.js loads node_modules\/pino/);
});

bundle('lets a command load a heavy package when it needs it', () => {
  const outputs = {
    'dist/commands/run/a.js': output(
      ['src/commands/run/a.ts'],
      [{ path: 'dist/chunks/x.js', kind: 'dynamic-import' }],
    ),
    'dist/chunks/x.js': output(['node_modules/@aws-sdk/client-s3/index.js']),
  };
  assert.equal(heavyAtStart(outputs), []);
});

const wrapper = (bytes: number, inputs: string[], imports: string[] = []) => ({
  'dist/wrapper.cjs': {
    bytes,
    ...output(
      inputs,
      imports.map((path) => ({ path, kind: 'require-call' })),
    ),
  },
});

bundle('finds packages and modules that the wrapper must do without', () => {
  const inputs = ['src/a.ts', 'node_modules/@scope/b/c.js', 'node_modules/pino/a.js'];
  assert.equal(
    unfitForWrapper(wrapper(1, inputs, ['node:tls', 'node:child_process', 'http', 'node:http2'])),
    [
      'dist/wrapper.cjs holds @scope/b.',
      'dist/wrapper.cjs holds pino.',
      'dist/wrapper.cjs holds child_process.',
      'dist/wrapper.cjs holds http.',
    ],
  );
});

bundle('finds a wrapper that has grown', () => {
  assert.is(unfitForWrapper(wrapper(1_000_000, [])).length, 1);
  assert.equal(unfitForWrapper(wrapper(1000, ['src/a.ts'], ['node:tls', 'node:fs'])), []);
});

bundle('takes of node:http what is named, and does not load undici with it', async () => {
  const entry = `import { STATUS_CODES } from 'node:http';
    console.log(STATUS_CODES[418], process.moduleLoadList.some((name) => name.includes('undici')));`;
  await withTree({ 'entry.js': entry }, async (root) => {
    const bundled = (plugins: ReturnType<typeof builtinsInParts>[], outfile: string) =>
      build({
        entryPoints: [`${root}/entry.js`],
        outfile,
        bundle: true,
        format: 'esm',
        platform: 'node',
        plugins,
      });
    await bundled([builtinsInParts()], `${root}/parts.mjs`);
    await bundled([], `${root}/whole.mjs`);
    const printed = async (file: string) => (await runCommand(process.execPath, [file], root)).stdout;
    assert.is(await printed(`${root}/parts.mjs`), "I'm a Teapot false\n");
    assert.is(await printed(`${root}/whole.mjs`), "I'm a Teapot true\n");
  });
});

bundle('finds a file that imports node:http whole', () => {
  const whole = [{ path: 'node:http', kind: 'import-statement' }];
  const outputs = {
    'dist/chunks/a.js': output([], whole),
    'dist/chunks/b.js': output([], [{ path: 'node:http', kind: 'require-call' }]),
    'dist/sdk/demo.js': output([], whole),
  };
  assert.equal(wholeHttp(outputs), ['dist/chunks/a.js imports node:http whole.']);
});

bundle('finds a CommonJS package whose names are lost in its chunk', async () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const chunk = (entryPoint: string, exports: string[]) => ({
    [`dist/${entryPoint}`]: { entryPoint, exports },
  });
  const lost = (outputs: object) => lostExports(outputs, (path: string) => `${root}${path}`);
  const cjs = 'node_modules/pino/pino.js';
  assert.match((await lost(chunk(cjs, ['default'])))[0] ?? '', /without .*stdSerializers/);
  assert.equal(await lost(chunk('node_modules/bowser/bowser.mjs', ['default'])), []);
  assert.equal(await lost(chunk('src/commands/netpol.ts', ['default'])), []);
});

bundle.run();
