import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createReviewMemoryLimit, type Leave } from '../../../../src/plugins/operator/webhook/review-body.ts';
import { Budget } from '../../../../src/runtime/bounds/budget.ts';

const test = suite('ReviewMemoryLimit');
const { signal } = new AbortController();
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Enters, and notes when it was let in. */
function entering(room: ReturnType<typeof createReviewMemoryLimit>, inside: string[]) {
  return (name: string, bytes: number, until = signal): Promise<Leave | undefined> =>
    room.enter(bytes, until).then((leave) => {
      inside.push(leave === undefined ? `${name} gave up` : name);
      return leave;
    });
}

test('is given until it is full; then the smallest comes first, and of several as small the first', async () => {
  const [room, inside] = [createReviewMemoryLimit(new Budget(10, 'smallest')), [] as string[]];
  const enter = entering(room, inside);
  const first = await enter('first', 6);
  const second = await enter('second', 4);
  assert.is(room.full, false);
  for (const [name, bytes] of [
    ['large', 5],
    ['small', 2],
    ['as small', 2],
    ['middle', 4],
  ] as const)
    void enter(name, bytes);
  await settled();
  assert.is(room.full, true);
  second?.();
  await settled();
  assert.equal(inside, ['first', 'second', 'small', 'as small']);
  first?.();
  await settled();
  assert.equal(inside.slice(4), ['middle']);
});

test('is given back once, whoever says it twice', async () => {
  const [room, inside] = [createReviewMemoryLimit(new Budget(10, 'smallest')), [] as string[]];
  const enter = entering(room, inside);
  const leave = await enter('first', 10);
  leave?.();
  leave?.();
  void enter('second', 10);
  void enter('third', 1);
  await settled();
  assert.equal(inside, ['first', 'second']);
});

test('is not waited for any longer than anybody waits for the answer', async () => {
  const [room, inside] = [createReviewMemoryLimit(new Budget(10, 'smallest')), [] as string[]];
  const enter = entering(room, inside);
  const leave = await enter('first', 10);
  const patience = new AbortController();
  void enter('impatient', 1, patience.signal);
  void enter('patient', 2);
  void enter('late', 1, AbortSignal.abort());
  patience.abort();
  await settled();
  leave?.();
  await settled();
  assert.equal(inside, ['first', 'late gave up', 'impatient gave up', 'patient']);
  assert.is(room.full, false);
});

test('is never given twice, and nobody is forgotten', async () => {
  const most = 20;
  const steps = fc.array(
    fc.record({ bytes: fc.integer({ min: 0, max: most }), leaves: fc.nat(), aborts: fc.boolean() }),
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const room = createReviewMemoryLimit(new Budget(most, 'smallest'));
      const inside: { readonly bytes: number; readonly leave: Leave }[] = [];
      let [held, ended] = [0, 0];
      for (const { bytes, leaves, aborts } of all) {
        const patience = new AbortController();
        void room.enter(bytes, patience.signal).then((leave) => {
          ended += 1;
          if (leave === undefined) return;
          held += bytes;
          inside.push({ bytes, leave });
        });
        if (aborts) patience.abort();
        await settled();
        assert.ok(held <= most);
        if (leaves % 2 === 1) leaveOne(leaves);
        await settled();
      }
      while (inside.length > 0) {
        leaveOne(0);
        await settled();
      }
      assert.equal([ended, room.full], [all.length, false]);
      function leaveOne(which: number): void {
        const [one] = inside.splice(which % Math.max(1, inside.length), 1);
        held -= one?.bytes ?? 0;
        one?.leave();
      }
    }),
  );
});

test.run();
