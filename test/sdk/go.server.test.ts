import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { go, requireGo } from '../support/go.ts';
import { secretRegion } from '../support/secret-region.ts';

await requireGo();
secretRegion().release();

const test = suite('sdk go');
/** Go's own library is compiled for each system where its cache is empty. */
export const timeout = 600_000;

test('its tests pass on Linux', async () => {
  const output = await go(['test', '-count=1', '-v', './...']);
  assert.match(output, '--- PASS: TestReadsDoNotAllocate');
  assert.match(output, '--- PASS: TestValuesPointIntoTheMappedPages');
  assert.not.match(output, '--- SKIP');
});

test('its tests pass as on another system', async () => {
  const output = await go(['test', '-count=1', '-v', '-tags', 'svc_nonlinux', '.']);
  assert.match(output, '--- PASS: TestOpenElsewhere');
  assert.not.match(output, 'TestStoresOfVectors');
});

test('go vet is content with every system', async () => {
  await go(['vet', './...']);
  await go(['vet', '-tags', 'svc_nonlinux', './...']);
  for (const GOOS of ['darwin', 'windows']) await go(['vet', './...'], { GOOS, CGO_ENABLED: '0' });
  await go(['vet', './...'], { GOARCH: 'arm64', CGO_ENABLED: '0' });
});

test('its files are formatted, its modules as written down', async () => {
  await go(['mod', 'verify']);
  await go(['mod', 'tidy', '-diff']);
  assert.is(await go(['run', 'cmd/gofmt', '-l', '.']), '');
});

test.run();
