import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FairTurns } from '../../../../src/plugins/operator/images/fair-turns.ts';

const test = suite('FairTurns');

/** @returns how many have begun, by namespace, and what ends one of a namespace */
function begin(turns: FairTurns) {
  const begun = new Map<string, (() => void)[]>();
  return {
    ask(namespace: string, count: number) {
      for (let left = count; left > 0; left--) {
        void turns.take(namespace).then((end) => {
          begun.set(namespace, [...(begun.get(namespace) ?? []), end]);
        });
      }
    },
    of: (namespace: string) => begun.get(namespace)?.length ?? 0,
    end: (namespace: string) => begun.get(namespace)?.pop()?.(),
  };
}

test('one namespace takes less than half, and others find turns while it keeps them', async () => {
  const { ask, of } = begin(new FairTurns(64));
  for (const namespace of ['a', 'b', 'c', 'd', 'victim']) ask(namespace, 40);
  await turn();
  assert.equal(['a', 'b', 'c', 'd', 'victim'].map(of), [24, 12, 6, 3, 2]);
});

test('a quarter is kept for namespaces that have none', async () => {
  const { ask, of } = begin(new FairTurns(64));
  const hostile = Array.from({ length: 6 }, (_, index) => `hostile-${index}`);
  for (const namespace of hostile) ask(namespace, 40);
  const victims = Array.from({ length: 12 }, (_, index) => `victim-${index}`);
  for (const namespace of victims) ask(namespace, 1);
  await turn();
  assert.ok(
    hostile.every((namespace) => of(namespace) > 0),
    hostile.map(of).join(),
  );
  assert.equal(victims.map(of), Array(12).fill(1));
});

test('what becomes free goes to the namespace with the fewest, though others have waited longer', async () => {
  const { ask, of, end } = begin(new FairTurns(4));
  ask('a', 10);
  ask('b', 10);
  await turn();
  assert.equal([of('a'), of('b')], [2, 1]);
  ask('victim', 1);
  await turn();
  assert.is(of('victim'), 1);
  end('a');
  await turn();
  assert.equal([of('a'), of('b')], [1, 1]);
  end('victim');
  end('b');
  await turn();
  assert.ok(of('b') >= 1);
});

test.run();
