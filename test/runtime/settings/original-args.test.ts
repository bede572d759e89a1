import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeOriginalArgs, encodeOriginalArgs } from '../../../src/runtime/settings/setting.ts';

interface Vector {
  readonly text: string | null;
  readonly args: readonly string[];
  readonly written?: string;
}

const file = new URL('../../vectors/original-args.json', import.meta.url);
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] };
const argument = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('\\', ',', 'a') }),
);

const codec = suite('SVC_ORIGINAL_ARGS');

codec('reads and writes every vector', () => {
  assert.ok(vectors.length > 20);
  for (const { text, args, written } of vectors) {
    assert.equal(decodeOriginalArgs(text ?? undefined), args, `read ${text}`);
    assert.is(encodeOriginalArgs(args), written ?? text ?? undefined, `write ${args}`);
  }
});

codec('reads back whatever it writes', () => {
  fc.assert(
    fc.property(fc.array(argument), (args) => {
      assert.equal(decodeOriginalArgs(encodeOriginalArgs(args)), args);
    }),
  );
});

codec('reads every text, and as many arguments as it has bare commas', () => {
  fc.assert(
    fc.property(argument, (text) => {
      const bare = text.replace(/\\[\\,]/g, '').split(',').length;
      assert.is(decodeOriginalArgs(text).length, bare);
    }),
  );
});

codec.run();
