import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Places } from '../../../../src/plugins/operator/images/lookup-cache.ts';

const test = suite('places');

test('are bounded, of each namespace too, and given back once', () => {
  const places = new Places(3, 2);
  const enter = (namespace: string) => {
    const entered = places.enter(namespace);
    if (typeof entered === 'string') throw new Error(entered);
    return entered;
  };
  const leave = enter('a');
  enter('a');
  assert.is(places.enter('a'), 'full of its namespace');
  const other = enter('b');
  assert.is(places.enter('c'), 'full');
  other();
  other();
  enter('c');
  assert.is(places.enter('c'), 'full');
  leave();
  enter('a');
  assert.is(places.enter('a'), 'full');
});

test.run();
