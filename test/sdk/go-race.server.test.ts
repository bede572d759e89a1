import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { go, requireRaceDetector } from '../support/go.ts';
import { secretRegion } from '../support/secret-region.ts';

await requireRaceDetector();
secretRegion().release();

const test = suite('sdk go -race');

test('its tests pass under the race detector', async () => {
  const output = await go(['test', '-race', '-count=1', '-v', './...'], { CGO_ENABLED: '1' });
  assert.match(output, '--- PASS: TestConcurrentUse');
});

test.run();
