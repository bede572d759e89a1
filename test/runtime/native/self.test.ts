import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runFixture } from './run-fixture.ts';

const self = suite('the process itself');

self('as an ordinary user: no core file, nothing to read for others, orphans adopted', () => {
  const { json, output } = runFixture('self', { ordinary: true, memlock: 65_536 });
  assert.equal(json?.environment, ['readable', 'refused'], output);
  assert.equal(json.core, ['1', 'unlimited']);
  assert.equal(json.limit, [1, 'Infinity']);
  assert.is(json.adopts, true);
  assert.is(json.ipcLock, false);
  assert.is(json.memlock, 65_536);
});

self('sees the capability where it is effective', () => {
  assert.is(runFixture('self', { privileged: true }).json.ipcLock, true);
});

self('keeps the hard limit on core files, and takes it where the soft one would pass it', () => {
  const none = runFixture('self', { under: ['prlimit', '--core=0:0'] }).json;
  assert.equal(
    [none.core, none.limit],
    [
      ['0', '0'],
      [0, '0'],
    ],
  );
  const some = runFixture('self', { under: ['prlimit', '--core=4096:8192'], args: ['Infinity'] }).json;
  assert.equal(
    [some.core, some.limit],
    [
      ['8192', '8192'],
      [8192, '8192'],
    ],
  );
});

self.run();
