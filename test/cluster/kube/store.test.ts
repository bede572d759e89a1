import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KubeObject } from '../../../src/cluster/kube/client.ts';
import { KeptRoom } from '../../../src/cluster/kube/kept-room.ts';
import { createStore } from '../../../src/cluster/kube/object-store.ts';

const test = suite('store of objects');

function object(name: string, uid: string, version: number): KubeObject {
  return { metadata: { name, namespace: 'n', uid, resourceVersion: String(version) } };
}

function recordingStore() {
  const events: string[] = [];
  const store = createStore(({ metadata }: KubeObject) => `${metadata.uid}@${metadata.resourceVersion}`, {
    onAdd: (value) => events.push(`add ${value}`),
    onChange: (value, before) => events.push(`change ${before} ${value}`),
    onDelete: (value) => events.push(`delete ${value}`),
  });
  return { store, events };
}

test('tells of what is added, changed and deleted, once', () => {
  const { store, events } = recordingStore();
  store.put(object('a', 'u1', 1));
  store.put(object('a', 'u1', 1));
  store.put(object('a', 'u1', 2));
  store.remove(object('a', 'u1', 3));
  store.remove(object('a', 'u1', 3));
  assert.equal(events, ['add u1@1', 'change u1@1 u1@2', 'delete u1@2']);
});

test('takes an object of the same name and another UID for another object', () => {
  const { store, events } = recordingStore();
  store.put(object('a', 'u1', 1));
  store.put(object('a', 'u2', 5));
  assert.equal(events, ['add u1@1', 'delete u1@1', 'add u2@5']);
  assert.is(store.get('n/a'), 'u2@5');
});

test('deletes what a list no longer has, and only when the list has come to its end', () => {
  const { store, events } = recordingStore();
  for (const name of ['a', 'b']) store.put(object(name, name, 1));
  store.beginList().put(object('b', 'b', 1));
  assert.is(store.size, 2);
  const list = store.beginList();
  list.put(object('b', 'b', 1));
  list.put(object('c', 'c', 2));
  list.end();
  assert.equal([...store.values()], ['b@1', 'c@2']);
  assert.equal(events.slice(2), ['add c@2', 'delete a@1']);
});

test('has what the last word on each object was, whatever came before', () => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    uid: fc.constantFrom('1', '2'),
    gone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const { store, events } = recordingStore();
      const expected = new Map<string, string>();
      for (const [index, { name, uid, gone }] of steps.entries()) {
        if (gone) store.remove(object(name, uid, index));
        else store.put(object(name, uid, index));
        if (gone) expected.delete(name);
        else expected.set(name, `${uid}@${index}`);
      }
      assert.equal([...store.values()].sort(), [...expected.values()].sort());
      const count = (word: string) => events.filter((event) => event.startsWith(word)).length;
      assert.is(count('add') - count('delete'), store.size);
    }),
  );
});

/** Of objects whose value is a text of as many characters as their version says. */
function roomyStore(room: KeptRoom, roomOfMarks = new KeptRoom(1_000_000)) {
  const marks: number[] = [];
  const texts = ({ metadata }: KubeObject) => 'a'.repeat(Number(metadata.resourceVersion));
  const store = createStore(
    texts,
    {},
    {
      ...{ room, roomOfMarks, mark: () => 'mark', standIn: (mark, key) => `${mark} for ${key}` },
      ...{ onMarked() {}, onMarks: (count) => marks.push(count) },
    },
  );
  return { store, marks };
}

test('keeps a mark of what does not fit beside the rest, and the whole once there is room', () => {
  const room = new KeptRoom(100_000);
  const { store, marks } = roomyStore(room);
  store.put(object('a', 'u', 30_000));
  store.put(object('b', 'u', 30_001));
  assert.is(store.get('n/b')?.length, 4);
  assert.not(store.wantsList);
  store.remove(object('a', 'u', 1));
  assert.ok(store.wantsList);
  const list = store.beginList();
  list.put(object('b', 'u', 30_001));
  list.end();
  assert.is(store.get('n/b')?.length, 30_001);
  assert.not(store.wantsList);
  assert.equal(marks, [1, 0]);
});

test('namespaces that take their most leave room for others', () => {
  const room = new KeptRoom(1_000_000);
  const { store } = roomyStore(room);
  const put = (namespace: string, name: string, version: number) => {
    const { metadata } = object(name, 'u', version);
    store.put({ metadata: { ...metadata, namespace } });
    return store.get(`${namespace}/${name}`)?.length;
  };
  assert.is(put('greedy-0', 'first', 10_000), 10_000);
  for (let place = 0; place < 10; place++)
    for (let index = 0; index < 50; index++) put(`greedy-${place}`, `more-${index}`, 20_000 + index);
  assert.is(put('greedy-0', 'last', 10_000), 4);
  assert.is(put('modest', 'first', 1_000), 1_000);
});

test('a room that is left is empty, however its objects changed', () => {
  const room = new KeptRoom(20_000);
  const { store } = roomyStore(room);
  for (let step = 0; step < 200; step++)
    store.put(object(`o${step % 7}`, `u${step % 3}`, (step * 997) % 9_000));
  for (let index = 0; index < 7; index++) store.remove(object(`o${index}`, 'u', 0));
  assert.is(room.used, 0);
});

/** Room for two marks of a namespace. */
const twoMarks = () => new KeptRoom(1_000);
const nothing = () => new KeptRoom(0);

test('bounds the marks of a namespace; one thing stands for all objects beyond them', () => {
  const { store, marks } = roomyStore(nothing(), twoMarks());
  for (let index = 0; index < 100; index++) {
    store.put(object(`a${index}`, `u${index}`, 5));
    store.putOutline(object(`b${index}`, `v${index}`, 5));
  }
  assert.equal([...store.values()], ['mark', 'mark', 'mark for n/']);
  assert.is(store.get('n/'), 'mark for n/');
  assert.is(marks.at(-1), 2);
  store.put({ metadata: { name: 'cluster-wide', uid: 'w', resourceVersion: '5' } });
  assert.is(store.get('cluster-wide'), 'mark');
});

test('what stands for others stays until a list in which everything has a mark', () => {
  const { store } = roomyStore(nothing(), twoMarks());
  const all = ['a', 'b', 'c', 'd'].map((name) => object(name, name, 5));
  for (const one of all) store.put(one);
  assert.is(store.get('n/'), 'mark for n/');
  assert.not(store.wantsList);
  // the one that it is named after
  store.remove(object('c', 'c', 6));
  assert.is(store.get('n/'), 'mark for n/');
  assert.ok(store.wantsList);
  const list = (...names: string[]) => {
    const begun = store.beginList();
    for (const name of names) begun.put(object(name, name, 5));
    begun.end();
  };
  list('a', 'b', 'd');
  assert.is(store.get('n/'), 'mark for n/');
  assert.not(store.wantsList);
  store.remove(object('a', 'a', 6));
  assert.ok(store.wantsList);
  list('b', 'd');
  assert.equal([...store.values()], ['mark', 'mark']);
  assert.ok(store.get('n/b') && store.get('n/d'));
});

test('nothing is forgotten, and rooms are empty at the end, whatever comes and goes', () => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    uid: fc.constantFrom('1', '2'),
    what: fc.constantFrom('put', 'outline', 'remove', 'list'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [room, roomOfMarks] = [new KeptRoom(1_500), new KeptRoom(1_000)];
      const { store } = roomyStore(room, roomOfMarks);
      const living = new Map<string, KubeObject>();
      const list = () => {
        const begun = store.beginList();
        for (const one of living.values()) begun.put(one);
        begun.end();
      };
      for (const [index, { name, uid, what }] of steps.entries()) {
        const one = object(name, uid, 100 + index);
        if (what === 'list') list();
        else if (what === 'remove') {
          store.remove(one);
          living.delete(name);
        } else {
          if (what === 'put') store.put(one);
          else store.putOutline(one);
          living.set(name, one);
        }
        for (const known of living.keys())
          assert.ok(store.get(`n/${known}`) ?? store.get('n/'), `${known} is forgotten`);
      }
      living.clear();
      list();
      assert.equal([store.size, room.used, roomOfMarks.used], [0, 0, 0]);
    }),
  );
});

test.run();
