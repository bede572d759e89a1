import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../support/temporary.ts';
import { requireTool } from '../testbed/ensure.ts';
import { type Complete, inBash, inFish, inZsh } from './support/shells.ts';
import { ensureBuilt, makeHome } from './support/svc.ts';

/** Starts many programs one after the other. */
export const idle = true;
export const timeout = 300_000;

const test = suite('completion in real shells');
const folder = temporaryFolder('completion');
const FILE = 'a-configuration.yaml';
let completers: Readonly<Record<string, Complete>>;
const scripts: Record<string, string> = {};

test.before(async () => {
  await ensureBuilt();
  writeFileSync(join(folder.path, FILE), '');
  const [zsh, fish] = [await requireTool('zsh'), await requireTool('fish')];
  completers = {
    bash: inBash,
    zsh: inZsh(zsh.bins['zsh'] as string),
    fish: inFish(fish.bins['fish'] as string),
  };
  const home = makeHome();
  for (const shell of Object.keys(completers)) scripts[shell] = home.bash(`svc completion ${shell}`).stdout;
  home.remove();
});

test.after(() => folder.remove());

const offers = async (shell: string, line: string) =>
  [...new Set(await completers[shell]?.(scripts[shell] ?? '', line, folder.path))].sort();

for (const shell of ['bash', 'zsh', 'fish']) {
  test(`${shell} offers commands`, async () => {
    const top = await offers(shell, 'svc ');
    for (const word of ['audit', 'completion', 'netpol', 'plugins', 'run'])
      assert.ok(top.includes(word), `${top}`);
    assert.equal(await offers(shell, 'svc ne'), ['netpol']);
    assert.equal(await offers(shell, 'svc * ne'), ['netpol'], 'what is no command is no pattern either');
  });

  test(`${shell} offers what stands below a command`, async () => {
    assert.equal(await offers(shell, 'svc run '), ['agent', 'operator', 'proxy', 'wrapper']);
    assert.equal(await offers(shell, 'svc completion '), ['bash', 'fish', 'zsh']);
  });

  test(`${shell} offers the flags of the command`, async () => {
    assert.equal(await offers(shell, 'svc run proxy --unenc'), ['--unencrypted-reads']);
    assert.equal(await offers(shell, 'svc run agent --unenc'), []);
    assert.ok((await offers(shell, 'svc run proxy --bind key --st')).includes('--strict'));
  });

  test(`${shell} offers the values of a flag`, async () => {
    assert.equal(await offers(shell, 'svc run proxy --log-format '), ['json', 'text']);
    assert.equal(await offers(shell, 'svc audit -o j'), ['json']);
  });

  test(`${shell} offers files where a flag names one, and nothing where it is free text`, async () => {
    const files = await offers(shell, 'svc run proxy --config a-conf');
    assert.equal(files, shell === 'bash' ? ['@default'] : [FILE]);
    assert.equal(await offers(shell, 'svc run proxy --transit-key pro'), []);
  });
}

test('bash and zsh offer the values after an equals sign, too', async () => {
  assert.equal(await offers('bash', 'svc run proxy --log-format='), ['json', 'text']);
  assert.equal(await offers('zsh', 'svc run proxy --log-format=j'), ['json']);
});

test.run();
