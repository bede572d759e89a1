import { suite } from 'uvu';
import { repetitions } from '../../support/repetitions.ts';
import { fuzz } from '../../support/untrusted-inputs/fuzz.ts';
import { inputs } from '../../support/untrusted-inputs/json-documents.ts';

export const slow = true;

const test = suite('JSON of strangers takes no more than its text and what is counted');

const seconds = Number(process.env['SVC_FUZZ_SECONDS'] ?? repetitions(3, 120));

for (const input of inputs)
  test(`${input.name}, from a ${input.from}`, () => {
    const [cost] = fuzz([input], { milliseconds: (seconds * 1_000) / inputs.length });
    if (process.env['SVC_FUZZ_VERBOSE']) console.log(cost);
  });

test.run();
