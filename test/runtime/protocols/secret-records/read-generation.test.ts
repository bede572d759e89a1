import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  currentGeneration,
  indexRecords,
} from '../../../../src/runtime/protocols/secret-records/region-layout.ts';
import { type RegionVector, regionOfVector } from '../../../support/secret-vectors.ts';

const test = suite('secret-records read-generation');
const file = new URL('../../../vectors/secret-records.json', import.meta.url);
const { regions } = JSON.parse(readFileSync(file, 'utf8')) as { regions: RegionVector[] };

for (const vector of regions) {
  test(vector.name, () => {
    const region = regionOfVector(vector);
    const generation = currentGeneration(region);
    assert.is(generation.number, vector.number);
    assert.is(generation.start, vector.start);
    const values = [...indexRecords(region, generation)].map(([key, { start, end }]) => [
      key,
      Buffer.from(region.subarray(start, end)).toString('hex'),
    ]);
    assert.equal(values, vector.values);
  });
}

test.run();
