import { existsSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { blocksIn, commandsIn } from './console.ts';
import { ownOf } from './install-page.ts';
import { clusterPart, SHELL_BLOCKS, shellBlock } from './shell-blocks.ts';

const test = suite('blocks of the shell in pages about a cluster');
const root = new URL('../../../', import.meta.url);

for (const [page, expected] of Object.entries(SHELL_BLOCKS)) {
  test(`those of ${page} are accounted for, each in its place`, () => {
    const begins = blocksIn(clusterPart(page), 'sh').map(({ text }, at) => {
      const wanted = expected[at]?.begins ?? '';
      return wanted !== '' && text.startsWith(wanted) ? wanted : text;
    });
    assert.equal(
      begins,
      expected.map(({ begins }) => begins),
    );
    assert.is(new Set(expected.map(({ name }) => name)).size, expected.length);
  });

  test(`those of ${page} are typed by the tests that are named, or it is said why not`, () => {
    for (const { name, typed } of expected) {
      if (typeof typed === 'string') assert.match(typed, /^It.*\.$|^test\/\S+ .*\.$/s, name);
      else assert.ok(typed.length > 0, name);
      for (const [path] of typed.toString().matchAll(/test\/[\w./-]+\w/g)) {
        assert.ok(existsSync(new URL(path, root)), path);
        if (typeof typed !== 'string')
          assert.ok(readFileSync(new URL(path, root), 'utf8').includes(`'${name}'`), `${path}: ${name}`);
      }
    }
  });
}

test('what GETTING-STARTED.md has from INSTALL.md is the same', () => {
  const commands = (page: string, name: string) => commandsIn(shellBlock(page, name));
  const [first, second, third] = commands('INSTALL.md', 'ready');
  assert.equal(commands('GETTING-STARTED.md', 'rollout'), [first, second]);
  assert.equal(commands('GETTING-STARTED.md', 'validate'), [third, 'svc validate --node']);
  assert.equal(commands('GETTING-STARTED.md', 'images'), commands('INSTALL.md', 'images'));
});

test('a block that is not there is an error', () => {
  assert.throws(() => shellBlock('INSTALL.md', 'none'), /no block none/);
});

test('examples of INSTALL.md that a test has something else for are on the page', () => {
  for (const example of Object.keys(ownOf('vault-ca.pem')))
    assert.ok(shellBlock('INSTALL.md', 'install').text.includes(example), example);
});

test.run();
