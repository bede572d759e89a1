import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Journal } from '../../../../src/plugins/bulk/decrypt/journal.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const test = suite('the journal of a decryption');
const place = { store: 'http://store', bucket: 'bucket', prefix: '' };
const entryOf = (key: string) => ({ key, etag: 'e', stored: 29, modified: 'm', bytes: 1, path: key });
const keyOf = (number: number) => String(number).padStart(4, '0');

test('what an earlier run completed is known whatever the order within its pages, and however pages lie now', async () => {
  const order = fc.shuffledSubarray(
    Array.from({ length: 40 }, (_, number) => number),
    { minLength: 40 },
  );
  const cuts = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(order, cuts, async (numbers, at) => {
      const folder = temporaryFolder('journal');
      try {
        const first = Journal.open(folder.path, place, true);
        for (const number of numbers) first.add(entryOf(keyOf(number)));
        first.close(false);
        const second = Journal.open(folder.path, place, true);
        const sorted = numbers.map(keyOf).sort();
        const ends = [...at.sort((one, other) => one - other), 40];
        let from = 0;
        for (const end of ends) {
          const page = sorted.slice(from, end);
          from = end;
          if (page.length === 0) continue;
          assert.equal([...(await second.of(page)).keys()].sort(), page);
        }
        second.close(false);
      } finally {
        await folder.remove();
      }
    }),
    { numRuns: 20 },
  );
});

test.run();
