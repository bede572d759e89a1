import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { perCpuStride, perCpuValues, sumPerCpu } from '../../../../src/plugins/agent/bpf/map.ts';

const values = suite('values per CPU');

values('lie a multiple of 8 bytes apart', () => {
  assert.equal([1, 8, 9, 12, 16].map(perCpuStride), [8, 8, 16, 16, 16]);
});

values('come apart without what fills them up', () => {
  const bytes = Buffer.from('aaaaaaaaaaaa....bbbbbbbbbbbb....');
  assert.equal(
    perCpuValues(bytes, 12).map((value) => value.toString()),
    ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'],
  );
});

values('add up, wherever the counter lies in them', () => {
  const counter = fc.bigInt({ min: 0n, max: (1n << 58n) - 1n });
  fc.assert(
    fc.property(fc.array(counter, { maxLength: 64 }), fc.constantFrom(0, 4, 8), (counts, offset) => {
      const stride = perCpuStride(offset + 8);
      const bytes = Buffer.alloc(stride * counts.length, 0xff);
      for (const [cpu, count] of counts.entries()) bytes.writeBigUInt64LE(count, cpu * stride + offset);
      assert.is(
        sumPerCpu(bytes, offset + 8, offset),
        counts.reduce((sum, count) => sum + count, 0n),
      );
    }),
  );
});

values.run();
