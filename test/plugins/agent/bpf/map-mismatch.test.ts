import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { layoutDifferences } from '../../../../src/plugins/agent/bpf/explain.ts';

const declared = { type: 1, keySize: 16, valueSize: 16, maxEntries: 65536, flags: 0 };

const layouts = suite('layouts of a pinned map');

layouts('are the same', () => {
  assert.equal(layoutDifferences(declared, { ...declared }), []);
});

layouts('differ in each fact that counts', () => {
  assert.equal(
    layoutDifferences(declared, { type: 9, keySize: 8, valueSize: 24, maxEntries: 16, flags: 1 }),
    [
      'type: 1 declared, 9 pinned',
      'key size: 16 declared, 8 pinned',
      'value size: 16 declared, 24 pinned',
      'max entries: 65536 declared, 16 pinned',
      'flags: 0 declared, 1 pinned',
    ],
  );
});

layouts.run();
