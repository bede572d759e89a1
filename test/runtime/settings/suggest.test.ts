import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hint, nearest } from '../../../src/runtime/settings/resolve.ts';

const suggestions = suite('suggestions');
const words = ['listen', 'upstream', 'vault-address', 'strict'];

suggestions('finds the word that was meant', () => {
  assert.is(nearest('lisen', words), 'listen');
  assert.is(nearest('vault-adress', words), 'vault-address');
  assert.is(nearest('upsteram', words), 'upstream');
  assert.is(nearest('strict', words), 'strict');
});

suggestions('stays silent when nothing is near', () => {
  assert.is(nearest('metrics', words), undefined);
  assert.is(nearest('x', words), undefined);
  assert.is(nearest('listen', []), undefined);
  assert.is(hint('metrics', words), '');
  assert.is(hint('lisen', words), ' (did you mean listen?)');
});

suggestions.run();
