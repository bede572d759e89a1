import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseAllDocuments } from 'yaml';
import { yamlDocuments } from '../../../src/plugins/netpol/index.ts';

const test = suite('documents');

const confusing = [
  'on',
  'Off',
  'yes',
  'N',
  'y',
  'null',
  '1e3',
  '0x1F',
  '0o7',
  '010',
  '1_000',
  '0b1',
  '1.5',
  '2001-01-01',
];
const word = fc.oneof(
  fc.string({ maxLength: 70 }),
  fc.constantFrom(...confusing, '~', '12:30:45', '=', '<<', '---'),
);
/** Of labels, annotations and their like. */
const key = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9_./-]{0,20}[A-Za-z0-9])?$/),
  fc.constantFrom(...confusing),
);
const objects = fc.array(
  fc.record({ labels: fc.dictionary(key, word), list: fc.array(word), port: fc.nat() }),
  { minLength: 1 },
);

test('say the same in YAML 1.1 and 1.2', () => {
  fc.assert(
    fc.property(objects, (given) => {
      // members of a prototype are no members of what is parsed
      const plain = JSON.parse(JSON.stringify(given));
      for (const version of ['1.1', '1.2'] as const) {
        const documents = parseAllDocuments(yamlDocuments(plain), { version, merge: false });
        assert.equal(
          documents.map((each) => JSON.parse(JSON.stringify(each.toJS()))),
          plain,
        );
      }
    }),
    { numRuns: 500 },
  );
});

test('stand on lines of their own, however often an object comes and however long a text is', () => {
  const labels = { a: 'x '.repeat(100).trim() };
  const text = yamlDocuments([{ one: labels, two: labels }, { three: labels }]);
  assert.is(text.split('---\n').length, 2);
  assert.not.match(text, /[&*]/);
  assert.is(text.split('\n').length, 8);
});

test('are nothing where there is nothing', () => {
  assert.is(yamlDocuments([]), '');
});

test.run();
