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
  assert.is(places.enter('a'), 'full of its namespace');
  enter('d');
  assert.is(places.enter('a'), 'full');
});

test('two namespaces that take their most leave places for ten others', () => {
  const places = new Places(24, 12);
  const enter = (namespace: string) => {
    const entered = places.enter(namespace);
    return typeof entered === 'function' ? 'entered' : entered;
  };
  for (const hostile of ['one', 'two']) for (let left = 24; left > 0; left--) enter(hostile);
  assert.is(enter('one'), 'full of its namespace');
  for (let victim = 0; victim < 10; victim++) assert.is(enter(`victim-${victim}`), 'entered');
  assert.is(enter('another'), 'full');
});

test.run();
