import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { repetitions } from '../support/repetitions.ts';
import { fuzz } from '../support/untrusted-inputs/fuzz.ts';
import { inputs } from '../support/untrusted-inputs/wire-formats.ts';

export const slow = true;

const test = suite('formats of the wire take no more memory and time than they should');

const milliseconds = repetitions(300, 10_000);

for (const input of inputs)
  test(`${input.name}, from a ${input.from}`, () => {
    const [worst] = fuzz([input], { milliseconds });
    assert.ok((worst?.runs ?? 0) > Object.keys(input.worst).length);
  });

test.run();
