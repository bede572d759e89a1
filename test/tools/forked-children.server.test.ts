import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { go, requireGo } from '../support/go.ts';
import { temporaryFolder } from '../support/temporary.ts';

const test = suite('children by fork alone');

const module_ = fileURLToPath(new URL('bypass', import.meta.url));
/** What runs in a child that has Go's memory and none of its threads. */
const functions = ['ForkPaused', 'pause', 'cloneFor', 'cloneAndExecute', 'cloneShared'];

await requireGo();

test('nothing that runs in one enters the scheduler, which asking for more stack may do', async () => {
  const folder = temporaryFolder('forked-children');
  const program = join(folder.path, 'bypass');
  await go(['build', '-C', module_, '-o', program, '.'], { CGO_ENABLED: '0' });
  const code = await go(['tool', 'objdump', '-s', `kernel\\.(${functions.join('|')})(\\.abi0)?$`, program]);
  await folder.remove();
  const found = [...code.matchAll(/^TEXT \S*kernel\.(\w+)/gm)].map(([, name]) => name);
  assert.equal(found.sort(), [...functions].sort());
  assert.not.match(code, /morestack/);
});

test.run();
