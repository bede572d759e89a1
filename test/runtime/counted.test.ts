import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { counted } from '../../src/runtime/units.ts';

const test = suite('counted things');

test('are one, or several', () => {
  assert.is(counted(1, 'node'), '1 node');
  assert.is(counted(0, 'node'), '0 nodes');
  assert.is(counted(2, 'policy', 'policies'), '2 policies');
});

test.run();
