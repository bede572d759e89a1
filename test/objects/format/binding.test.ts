import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { associatedData, type BindingMode, type KeyPurpose } from '../../../src/objects/format/metadata.ts';

const test = suite('bindings');

interface Vector {
  readonly mode: BindingMode;
  readonly bucket: string;
  readonly key: string;
  readonly purpose: KeyPurpose;
  readonly text: string | null;
}
const { bindings } = JSON.parse(
  readFileSync(new URL('../../vectors/envelope/bindings.json', import.meta.url), 'utf8'),
) as { bindings: Vector[] };

test('vectors', () => {
  for (const { mode, bucket, key, purpose, text } of bindings)
    assert.is(associatedData(mode, { bucket, key }, purpose), text ?? undefined);
});

const purposes: fc.Arbitrary<KeyPurpose> = fc.oneof(
  fc.constant({ kind: 'object' } as const),
  fc.record({ kind: fc.constant('part' as const), upload: fc.string(), number: fc.nat(3) }),
  fc.record({ kind: fc.constant('seal' as const), upload: fc.string() }),
);
const names = fc.record({ bucket: fc.string({ maxLength: 3 }), key: fc.string({ maxLength: 3 }) });

test('different places never have the same text', () => {
  fc.assert(
    fc.property(names, purposes, names, purposes, (name, purpose, other, otherPurpose) => {
      const same = JSON.stringify([name, purpose]) === JSON.stringify([other, otherPurpose]);
      const text = associatedData('bucket-key', name, purpose);
      assert.is(text === associatedData('bucket-key', other, otherPurpose), same);
    }),
    { numRuns: 1000 },
  );
});

test('a binding to the key alone leaves the bucket free', () => {
  const purpose = { kind: 'object' } as const;
  const [here, there] = ['a', 'b'].map((bucket) => associatedData('key', { bucket, key: 'k' }, purpose));
  assert.is(here, there);
});

test.run();
