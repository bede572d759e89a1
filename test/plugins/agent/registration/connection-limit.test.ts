import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ConnectionLimit } from '../../../../src/plugins/agent/registration/acceptor.ts';

const test = suite('connection limit');
let dropped: string[] = [];
test.before.each(() => {
  dropped = [];
});

/** `owner:pid` connects. */
function connections(bounds: { perProcess: number; total: number }, ...names: readonly string[]) {
  const limit = new ConnectionLimit(bounds);
  const held = names.map((name, index) => {
    const [owner = '', pid = '0'] = name.split(':');
    const connection = { owner, pid: Number(pid), drop: () => void dropped.push(`${name}#${index}`) };
    limit.add(connection);
    return connection;
  });
  return { limit, held };
}

test('lets everybody in up to the bounds', () => {
  connections({ perProcess: 2, total: 4 }, 'a:1', 'a:1', 'a:2', 'b:3');
  assert.equal(dropped, []);
});

test('a process that has enough loses its oldest', () => {
  connections({ perProcess: 2, total: 4 }, 'a:1', 'b:2', 'a:1', 'a:1', 'a:1');
  assert.equal(dropped, ['a:1#0', 'a:1#2']);
});

test('at the bound of all, whoever holds the most loses the oldest, not the newcomer', () => {
  connections({ perProcess: 9, total: 4 }, 'b:9', 'a:1', 'a:2', 'a:3', 'c:7', 'd:8');
  assert.equal(dropped, ['a:1#1', 'a:2#2']);
});

test('processes that cannot be told apart are not taken for one', () => {
  connections({ perProcess: 1, total: 3 }, 'a:0', 'a:0', 'a:0');
  assert.equal(dropped, []);
});

test('one that has ended leaves its place', () => {
  const { limit, held } = connections({ perProcess: 1, total: 1 }, 'a:1');
  for (const connection of held) limit.remove(connection);
  assert.is(limit.size, 0);
  limit.add({ owner: 'a', pid: 1, drop: () => assert.unreachable() });
  assert.equal(dropped, []);
});

test.run();
