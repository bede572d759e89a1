import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EqualRecords } from '../../../../src/plugins/agent/guard/establish.ts';

const test = suite('equal records of access events');

function record(time: bigint, rest: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(time);
  bytes.write(rest, 8, 'latin1');
  return bytes;
}

function merge(records: readonly Buffer[]) {
  const equal = new EqualRecords();
  for (const each of records) {
    const lent = Buffer.from(each);
    equal.add(lent);
    // the ring goes on to something else
    lent.fill(0);
  }
  const told: { time: bigint; rest: string; count: number; last: bigint }[] = [];
  equal.handOver((bytes, { count, last }) => {
    const [time, rest] = [bytes.readBigUInt64LE(), bytes.toString('latin1', 8)];
    told.push({ time, rest: rest.replaceAll('\0', ''), count, last });
  });
  equal.handOver(() => assert.unreachable('they are handed over once'));
  return told;
}

test('are told with the time of the first and of the last, in the order of the first', () => {
  assert.equal(merge([record(1n, 'a'), record(2n, 'b'), record(3n, 'a'), record(4n, 'a')]), [
    { time: 1n, rest: 'a', count: 3, last: 4n },
    { time: 2n, rest: 'b', count: 1, last: 2n },
  ]);
});

test('one that is too short for a hit is told, too', () => {
  const equal = new EqualRecords();
  equal.add(Buffer.from('abc'));
  const lengths: number[] = [];
  equal.handOver(({ length }) => void lengths.push(length));
  assert.equal(lengths, [3]);
});

test('none is lost, and none told twice', () => {
  const some = fc.array(
    fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.constantFrom('a', 'b', 'é')),
  );
  fc.assert(
    fc.property(some, (all) => {
      const told = merge(all.map(([time, rest]) => record(time, rest)));
      for (const rest of ['a', 'b', 'é']) {
        const own = all.filter(([, each]) => each === rest);
        const [first, ...more] = told.filter((each) => each.rest === rest);
        assert.equal(more, []);
        assert.is(first?.count ?? 0, own.length);
        assert.is(first?.time, own[0]?.[0]);
        assert.is(first?.last, own.at(-1)?.[0]);
      }
    }),
  );
});

test.run();
