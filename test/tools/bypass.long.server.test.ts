import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildBypass } from '../support/bypass/build.ts';
import * as bypass from '../support/bypass.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { bootVm } from '../support/vm/boot.ts';
import { GUEST_NODE, guestProgram } from '../support/vm/guest-program.ts';
import { GIVEN_UP, judgeAccessPaths, judgeReads } from './judge.ts';

export const timeout = 300_000;

const folder = temporaryFolder('bypass');
const program = await buildBypass(folder.path);
const paths = await bypass.listAccessPaths(program);

const test = suite('attack paths to an unprotected process, in a virtual machine');
test.after(() => folder.remove());

test('every attack path leaks, ordinary reads work, and a core limit of 1 stops the dump', async () => {
  const entry = fileURLToPath(new URL('./fixtures/walk-all.ts', import.meta.url));
  const { status, records, stderr } = await bootVm({
    files: { '/opt/test/bypass': program, '/opt/test/walk.mjs': await guestProgram(entry) },
    script: `exec ${GUEST_NODE} /opt/test/walk.mjs /opt/test/bypass`,
    processors: 1,
    modules: true,
    timeoutMs: 200_000,
  });
  assert.is(status, 0, stderr);
  const results = records.slice(0, -1) as unknown as bypass.AccessPathResult[];
  assert.equal(
    results.map(({ path }) => path),
    paths.map(({ path }) => path),
  );
  judgeAccessPaths(results, GIVEN_UP);
  const { reads, limited } = records.at(-1) ?? {};
  judgeReads(reads as bypass.OrdinaryRead[]);
  assert.equal(limited, { path: 'core-pipe', outcome: 'failed', detail: 'no dump came' });
});

test.run();
