import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { atLeast, nodeBinary } from '../../scripts/lib/node-binary.mjs';
import { withTree } from './temporary-tree.ts';

const node = suite('nodeBinary');
const PINNED = `node_modules/node-linux-${process.arch}/bin/node`;

node('compares versions by their numbers', () => {
  assert.ok(atLeast('v22.18.0', [22, 18]));
  assert.ok(atLeast('v24.0.0', [22, 18]));
  assert.ok(atLeast('v22.100.1', [22, 18]));
  assert.not.ok(atLeast('v22.9.9', [22, 18]));
  assert.not.ok(atLeast('v9.99.0', [22, 0]));
});

node('prefers the pinned Node where it runs', async () => {
  await withTree({ [PINNED]: '#!/bin/sh\nexit 0\n' }, (root) => {
    chmodSync(join(root, PINNED), 0o755);
    assert.is(nodeBinary([22, 0], root), join(root, PINNED));
  });
});

node('takes the Node that runs where the pinned one does not', async () => {
  await withTree({ [PINNED]: '#!/bin/sh\nexit 1\n' }, (root) => {
    chmodSync(join(root, PINNED), 0o755);
    assert.is(nodeBinary([22, 0], root), process.execPath);
  });
});

node('names the version it needs when there is only an older one', async () => {
  await withTree({}, (root) => {
    assert.throws(() => nodeBinary([99, 1], root), /needs Node 99\.1 or later; here runs v[\s\S]*Next:/);
  });
});

node.run();
