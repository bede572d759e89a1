import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apiLevel } from '../../src/runtime/plugin-host.ts';
import { ensureBuilt } from '../cli/support/svc.ts';
import { svcHome } from './support/svc-home.ts';

export const slow = true;

/** Starts many programs one after the other. */
export const timeout = 300_000;

const test = suite('plugins that do not fit');

test.before(ensureBuilt);

const COMMAND = `import { BaseCommand } from 'svc/plugin';
export default class Odd extends BaseCommand { async run() { this.log('ran'); } }`;

interface Plugin {
  readonly command?: string;
  /** What its package.json says beside the usual. */
  readonly package?: object;
  /** With a manifest its commands are loaded when they run, without one at each start. */
  readonly manifest?: boolean;
}

/** What `svc odd` says with the plugin linked. */
async function outcomeWith(plugin: Plugin) {
  const home = svcHome();
  try {
    const folder = writePlugin(join(home.path, 'plugin'), plugin);
    await home.svc(`plugins link --no-install ${folder}`);
    return { ran: await home.svc('odd'), listed: await home.svc('run') };
  } finally {
    await home.remove();
  }
}

function writePlugin(folder: string, plugin: Plugin): string {
  const described = {
    ...{ name: 'svc-plugin-odd', version: '1.2.3', type: 'module', svc: { api: apiLevel } },
    oclif: { commands: './commands' },
    ...plugin.package,
  };
  write(join(folder, 'package.json'), JSON.stringify(described));
  write(join(folder, 'commands', 'odd.js'), plugin.command ?? COMMAND);
  const odd = { id: 'odd', aliases: [], args: {}, flags: {}, hiddenAliases: [], isESM: true };
  const commands = { odd: { ...odd, relativePath: ['commands', 'odd.js'], pluginName: 'svc-plugin-odd' } };
  if (plugin.manifest)
    write(join(folder, 'oclif.manifest.json'), JSON.stringify({ version: '1.2.3', commands }));
  return folder;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

test('one that fits runs, with a manifest and without', async () => {
  for (const manifest of [true, false]) {
    const { ran } = await outcomeWith({ manifest });
    assert.equal([ran.stdout, ran.stderr, ran.status], ['ran\n', '', 0]);
  }
});

test('one that requires the interface gets it, too', async () => {
  const command = `const { BaseCommand } = require('svc/plugin');
    module.exports = class Odd extends BaseCommand { async run() { this.log('ran'); } };`;
  const { ran } = await outcomeWith({ command, package: { type: 'commonjs' } });
  assert.equal([ran.stdout, ran.stderr, ran.status], ['ran\n', '', 0]);
});

for (const [what, svc, reason] of [
  ['a later level', { api: apiLevel + 1 }, /svc-plugin-odd 1\.2\.3 was made for level 2 .* has level 1/],
  ['an earlier level', { api: 0 }, /svc-plugin-odd 1\.2\.3 was made for level 0 .* has level 1/],
  ['no level', undefined, /svc-plugin-odd 1\.2\.3 does not say for which level/],
] as const) {
  test(`one for ${what} of the interface is refused when it runs`, async () => {
    const { ran } = await outcomeWith({ package: { svc }, manifest: true });
    assert.match(ran.stderr, reason);
    assert.match(ran.stderr, /\(PLUGIN_INCOMPATIBLE\)\nNext: /);
    assert.is(ran.status, 78);
  });

  test(`one for ${what} of the interface leaves the rest of svc working`, async () => {
    const { ran, listed } = await outcomeWith({ package: { svc } });
    assert.match(ran.stderr, /^Warning: the plugin svc-plugin-odd: its command `odd` is left out: /);
    assert.match(ran.stderr, reason);
    assert.match(listed.stdout, /^Components:\n/);
    assert.is(listed.status, 0);
  });
}

const BROKEN = {
  'imports what is not there': "import 'package-that-is-not-there';",
  'imports a name that the interface lacks': "import { nothingSuch } from 'svc/plugin';",
  'imports a part of svc that is not public': "import 'svc/dist/main.js';",
  'cannot be parsed': 'export default class {',
  'throws when it is loaded': "throw new Error('broken at once');",
};

for (const [what, command] of Object.entries(BROKEN)) {
  test(`one that ${what} is blamed for it`, async () => {
    const { ran } = await outcomeWith({ command, manifest: true });
    assert.match(ran.stderr, /\(PLUGIN_BROKEN\)\nNext: .*svc-plugin-odd 1\.2\.3/);
    assert.not.match(ran.stderr, /defect of svc/);
    assert.is(ran.status, 70);
    const { ran: absent, listed } = await outcomeWith({ command });
    assert.match(absent.stderr, /^Warning: the plugin svc-plugin-odd: its command `odd` is left out: /);
    assert.is(listed.status, 0);
  });
}

test('what a command of a plugin throws is its own defect', async () => {
  const command = `import { BaseCommand } from 'svc/plugin';
    export default class Odd extends BaseCommand { async run() { null.x; } }`;
  const { ran } = await outcomeWith({ command });
  assert.match(
    ran.stderr,
    /^Error: Cannot read properties of null .*\(PLUGIN_BROKEN\)\nNext: .*svc-plugin-odd/,
  );
  assert.is(ran.status, 70);
});

test('an error of svc that it throws is shown as ours are', async () => {
  const command = `import { BaseCommand, SvcError } from 'svc/plugin';
    export default class Odd extends BaseCommand {
      async run() { throw new SvcError('ODD', 'It is odd.', { nextStep: 'Make it even.', exitStatus: 4 }); }
    }`;
  const { ran } = await outcomeWith({ command });
  assert.equal([ran.stderr, ran.status], ['Error: It is odd. (ODD)\nNext:  Make it even.\n', 4]);
});

test.run();
