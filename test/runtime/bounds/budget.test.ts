import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Budget, type Order, type Share } from '../../../src/runtime/bounds/budget.ts';

const test = suite('a budget');
const waits = (shares: readonly Share[]) => shares.map((share) => share.waits);

test('keeps its order, so that a large one is not overtaken for ever', () => {
  const budget = new Budget(10);
  const first = budget.ask(6);
  const others = [5, 1].map((amount) => budget.ask(amount));
  assert.equal([first.waits, ...waits(others)], [false, true, true]);
  first.release(1);
  assert.equal([...waits(others), budget.used], [false, true, 10]);
  others[0]?.release();
  assert.equal([...waits(others), budget.used], [false, false, 6]);
});

test('serves the smallest first where it is told so, of several as small the first', () => {
  const budget = new Budget(10, 'smallest');
  const first = budget.ask(10);
  const others = [5, 2, 2, 4].map((amount) => budget.ask(amount));
  first.release(3);
  assert.equal(waits(others), [true, false, true, true]);
  first.release(2);
  assert.equal(waits(others), [true, false, false, true]);
  assert.is(budget.waiting, 2);
  first.release();
  assert.equal(waits(others), [true, false, false, false]);
});

test('who gives up holds nothing and keeps nobody behind waiting', async () => {
  const budget = new Budget(10);
  const first = budget.ask(6);
  const [large, small] = [budget.ask(11), budget.ask(4)];
  assert.is(large.giveUp(), true);
  assert.is(await large.granted, false);
  assert.is(await small.granted, true);
  assert.equal([large.giveUp(), first.giveUp()], [false, false]);
  large.release();
  assert.is(budget.used, 10);
});

test('is given back once, and never more than is held', () => {
  const budget = new Budget(10);
  const share = budget.ask(6);
  share.release(4);
  assert.equal([share.held, budget.used], [2, 2]);
  share.release(4);
  share.release();
  assert.equal([share.held, budget.used], [0, 0]);
});

test('parts fit into the whole, and what one gives back serves those who wait in another', () => {
  const whole = new Budget(10);
  const [one, other] = [new Budget(8, 'first', whole), new Budget(8, 'first', whole)];
  const first = one.ask(7);
  const waiting = [other.ask(4), one.ask(2), other.ask(1)];
  assert.equal([...waits(waiting), whole.used], [true, true, true, 7]);
  first.release(3);
  assert.equal([...waits(waiting), whole.used], [false, false, true, 10]);
  waiting[2]?.force(Number.POSITIVE_INFINITY);
  assert.equal([...waits(waiting), whole.used, other.used], [false, false, false, 11, 5]);
  for (const share of [first, ...waiting]) share.release();
  assert.equal([whole.used, one.used, other.used], [0, 0, 0]);
});

test('is never given twice, and nobody is forgotten', () => {
  const most = 20;
  const step = fc.record({
    amount: fc.nat(most),
    at: fc.nat(),
    end: fc.constantFrom('stay', 'leave', 'part'),
  });
  fc.assert(
    fc.property(fc.constantFrom<Order>('first', 'smallest'), fc.array(step), (order, steps) => {
      const budget = new Budget(most, order);
      const shares: Share[] = [];
      const held = () => shares.reduce((sum, share) => sum + share.held, 0);
      for (const { amount, at, end } of steps) {
        shares.push(budget.ask(amount));
        const share = shares[at % shares.length];
        if (end === 'part') share?.release(amount);
        if (end === 'leave' && !share?.giveUp()) share?.release();
        assert.is(budget.used, held());
        assert.ok(budget.used <= most);
      }
      for (let left = shares.length; left > 0; left--) for (const share of shares) share.release();
      assert.equal([budget.used, budget.waiting], [0, 0]);
    }),
  );
});

test.run();
