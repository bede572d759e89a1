import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createDigest } from '../../../../src/plugins/wrapper/digest.ts';

const digests = suite('digest of secrets');
const entry = (key: string, value: string) => ({ key, value: Buffer.from(value) });

digests('is the same for the same secrets, whatever their order', () => {
  const digest = createDigest();
  assert.is(digest([entry('A', '1'), entry('B', '2')]), digest([entry('B', '2'), entry('A', '1')]));
});

digests('differs where a name, a value or the border between them differs', () => {
  const digest = createDigest();
  const sets = [
    [],
    [entry('A', '')],
    [entry('A', '1')],
    [entry('A', '2')],
    [entry('AB', '')],
    [entry('A', 'B')],
    [entry('A', '1'), entry('B', '2')],
    [entry('A', '12'), entry('B', '')],
    [entry('A', '11 1 B2')],
  ];
  assert.is(new Set(sets.map(digest)).size, sets.length);
});

digests('says nothing to somebody without its key', () => {
  assert.is.not(createDigest()([entry('A', '1')]), createDigest()([entry('A', '1')]));
});

digests.run();
