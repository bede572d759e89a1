import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mask } from '../../../src/sdk/demo-server.ts';

const test = suite('sdk demo mask');
const file = new URL('../../vectors/secret-store.json', import.meta.url);
const { masks } = JSON.parse(readFileSync(file, 'utf8')) as { masks: [value: string, masked: string][] };

test('two characters at either end, none of a value of eight or fewer', () => {
  assert.ok(masks.length > 0);
  for (const [value, masked] of masks) assert.is(mask(value), masked);
});

test.run();
