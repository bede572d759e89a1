import { appendFileSync, mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hasClang } from '../../scripts/lib/bpf.mjs';
import { isBuilt, STAMP, sourceHash } from '../../scripts/lib/stamp.mjs';
import { withTree } from './temporary-tree.ts';

const stamp = suite('build stamp');

function changes(change: (root: string) => void): Promise<boolean> {
  const files = { 'package.json': '{}', 'src/main.ts': 'one', 'src/core/a.ts': 'two', 'bpf/a.h': 'three' };
  return withTree(files, (root) => {
    mkdirSync(join(root, 'dist'));
    writeFileSync(join(root, STAMP), sourceHash(root));
    assert.is(isBuilt(root), true);
    change(root);
    return !isBuilt(root);
  });
}

stamp('notices a changed, a new and a renamed source and a changed package.json', async () => {
  assert.ok(await changes((root) => appendFileSync(join(root, 'src/core/a.ts'), '!')));
  assert.ok(await changes((root) => writeFileSync(join(root, 'src/core/b.ts'), '')));
  assert.ok(await changes((root) => renameSync(join(root, 'src/core/a.ts'), join(root, 'src/core/c.ts'))));
  assert.ok(await changes((root) => writeFileSync(join(root, 'package.json'), '{ }')));
  assert.ok(await changes((root) => appendFileSync(join(root, 'bpf/a.h'), '!')));
});

stamp('does not care about time stamps', async () => {
  assert.not.ok(await changes((root) => utimesSync(join(root, 'src/main.ts'), 1, 1)));
});

stamp('is the same however the root is written', () =>
  withTree({ 'package.json': '{}', 'src/main.ts': 'one', 'bpf/a.h': 'two' }, (root) => {
    assert.is(sourceHash(`${root}/`), sourceHash(root));
  }),
);

stamp('is not enough without the objects of the BPF programs, where they can be built', async () => {
  assert.is(
    await withTree({ 'package.json': '{}', 'src/main.ts': '', 'bpf/b.bpf.c': '' }, (root) => {
      mkdirSync(join(root, 'dist'));
      writeFileSync(join(root, STAMP), sourceHash(root));
      return isBuilt(root);
    }),
    !hasClang(),
  );
});

stamp('is missing before the first build', async () => {
  assert.is(await withTree({ 'src/main.ts': '' }, isBuilt), false);
});

stamp.run();
