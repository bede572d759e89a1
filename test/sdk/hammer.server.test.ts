import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { writeGeneration } from '../../src/runtime/protocols/secret-records/region-writer.ts';
import { go, requireRaceDetector } from '../support/go.ts';
import { entriesOf, regionWith } from '../support/secret-region.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { waitFor } from '../support/wait-for.ts';
import { inherit } from '../support/with-descriptor.ts';
import { hammerValue } from './fixtures/hammer-value.ts';

type Command = readonly [string, ...string[]];

interface Counts {
  Reads: number;
  Outdated: number;
  Changes: number;
  Mixed: number;
  Backwards: number;
  Missing: number;
}

await requireRaceDetector();
const folder = temporaryFolder('hammer');
const generations = 300_000;
const burst = 200;

function secretsOf(number: number, end = 'no'): [key: string, value: string][] {
  const value = hammerValue(number);
  return [
    ['A', value],
    ['B', value],
    ['END', end],
  ];
}

/** Rotates without a pause within a burst; the next burst waits until the reader's output had a turn. */
async function hammer(command: Command): Promise<Counts> {
  const region = regionWith(secretsOf(0));
  const reader = await inherit(command, region.descriptor);
  await waitFor('the reader to begin', () => reader.output() !== '', { details: reader.errors });
  for (let number = 1; number < generations; number++) {
    writeGeneration(region.bytes, entriesOf(secretsOf(number)));
    if (number % burst === 0) await setImmediate();
  }
  writeGeneration(region.bytes, entriesOf(secretsOf(generations, 'yes')));
  const { code } = await reader.exited;
  assert.is(code, 0, reader.errors());
  region.release();
  return JSON.parse(reader.output().replace('ready', ''));
}

function check(counts: Counts): void {
  const found = JSON.stringify(counts);
  assert.is(counts.Mixed, 0, found);
  assert.is(counts.Backwards, 0, found);
  assert.is(counts.Missing, 0, found);
  assert.ok(counts.Changes > 100, found);
}

const test = suite('sdk under a hammering writer');

test('TypeScript reads the old or the new value, never a mixture', async () => {
  const reader = fileURLToPath(new URL('fixtures/hammer-reader.ts', import.meta.url));
  check(await hammer([process.execPath, reader]));
});

test('Go reads the old or the new value, never a mixture', async () => {
  const reader = `${folder.path}/hammer`;
  await go(['build', '-race', '-o', reader, './internal/hammer'], { CGO_ENABLED: '1' });
  check(await hammer([reader]));
});

test.after(() => folder.remove());
test.run();
