import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../support/temporary.ts';
import { compileFuzz } from './compile.ts';

const fuzz = suite('what svc-init reads');
const folder = temporaryFolder('init-fuzz');

fuzz.after(() => folder.remove());

fuzz('health requests, records, messages and launch regions of any content are harmless', async () => {
  const run = await compileFuzz(folder.path);
  const { status, stdout, stderr } = await run(200_000, 1);
  assert.is(status, 0, stderr);
  assert.is(stdout, '200000 cases\n');
});

fuzz.run();
