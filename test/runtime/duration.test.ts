import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  DurationError,
  formatDuration,
  formatNanoseconds,
  parseDuration,
  parseNanoseconds,
} from '../../src/runtime/units.ts';

interface Vector {
  readonly text: string;
  readonly ns: string | null;
  readonly string?: string;
}

const file = new URL('../vectors/go-durations.json', import.meta.url);
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] };
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

const durations = suite('durations');

durations('answers every vector as Go does', () => {
  assert.ok(vectors.length > 200);
  for (const { text, ns } of vectors) {
    if (ns === null) assert.throws(() => parseNanoseconds(text), isDurationError, `${text} must be refused`);
    else assert.is(parseNanoseconds(text), BigInt(ns), text);
  }
});

durations('writes a value as Go does', () => {
  for (const { ns, string } of vectors) {
    if (ns !== null) assert.is(formatNanoseconds(BigInt(ns)), string);
  }
});

durations('reads back every value that it writes', () => {
  fc.assert(fc.property(int64, (ns) => parseNanoseconds(formatNanoseconds(ns)) === ns));
});

durations('adds up terms of any units', () => {
  const term = fc.tuple(fc.integer({ min: 0, max: 1000 }), fc.constantFrom('ns', 'us', 'ms', 's', 'm', 'h'));
  fc.assert(
    fc.property(fc.array(term, { minLength: 1, maxLength: 6 }), (terms) => {
      const parts = terms.map(([count, unit]) => parseNanoseconds(`${count}${unit}`));
      const total = parseNanoseconds(terms.map(([count, unit]) => `${count}${unit}`).join(''));
      assert.is(
        total,
        parts.reduce((sum, part) => sum + part, 0n),
      );
    }),
  );
});

durations('refuses other text with its own error and nothing else', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0159.-+hmsnuµe xd_') }), (text) => {
      try {
        parseNanoseconds(text);
      } catch (error) {
        assert.instance(error, DurationError);
      }
    }),
  );
});

durations('counts in milliseconds', () => {
  assert.is(parseDuration('1h30m'), 5_400_000);
  assert.is(parseDuration('1.5ms'), 1.5);
  assert.is(parseDuration('1ns'), 1e-6);
  assert.is(formatDuration(25_000), '25s');
  assert.is(formatDuration(1.5), '1.5ms');
});

function isDurationError(error: unknown): boolean {
  return error instanceof DurationError;
}

durations.run();
