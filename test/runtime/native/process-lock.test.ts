import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runFixture } from './run-fixture.ts';

export const slow = true;

const mebibyte = 1 << 20;
const capability = /CAP_IPC_LOCK is not effective/;

const privileged = suite('locking the process, with CAP_IPC_LOCK');

privileged('locks everything but machine code, and survives compilation, regexps and collections', () => {
  const { json, output, status } = runFixture('lock', {
    args: ['required'],
    memlock: 65_536,
    privileged: true,
  });
  assert.is(status, 0, output);
  assert.is(json.first.mode, 'all');
  assert.is(json.first.reason, undefined);
  for (const { lockedBytes, unlockedBytes, lockedCode } of [json.first, json.second]) {
    assert.ok(lockedBytes > 8 * mebibyte, `${lockedBytes} bytes locked`);
    assert.ok(unlockedBytes < lockedBytes / 2, `${unlockedBytes} bytes not locked`);
    assert.equal(lockedCode, []);
  }
  assert.is(json.webAssembly, false, 'it would end the process');
  assert.is(json.lockedInTheEnd, 0);
});

privileged('is refused in a user namespace, where the capability counts for nothing', () => {
  const under = ['unshare', '--user', '--map-root-user'];
  const { json, status } = runFixture('lock', { args: ['required'], memlock: 8 * mebibyte, under });
  assert.is(status, 71);
  assert.match(json.message, /user namespace; the memory-lock limit is 8388608 bytes/);
});

privileged.run();

const ordinary = suite('locking the process, as an ordinary user');

for (const memlock of [8 * mebibyte, 65_536, 0]) {
  ordinary(`with ${memlock} bytes and the lock required ends with status 71, naming both`, () => {
    const { json, status } = runFixture('lock', { args: ['required'], ordinary: true, memlock });
    assert.is(status, 71);
    assert.is(json.code, 'MEMORY_LOCK_REFUSED');
    assert.match(json.message, capability);
    assert.match(json.message, new RegExp(`memory-lock limit is ${memlock} bytes`));
    assert.match(json.nextStep, /IPC_LOCK.*LimitMEMLOCK=infinity/);
  });
}

ordinary('with 8 MiB locks what fits, keeps room for secret regions, and reports the rest', () => {
  const { json, output, status } = runFixture('lock', { ordinary: true, memlock: 8 * mebibyte });
  assert.is(status, 0, output);
  assert.is(json.first.mode, 'partial');
  assert.match(json.first.reason, capability);
  assert.ok(json.first.lockedBytes > mebibyte && json.first.lockedBytes <= 7 * mebibyte, output);
  assert.ok(json.first.unlockedBytes > 0, output);
  assert.equal(json.region, { kind: 'memfd_secret', locked: true });
  assert.is(json.lockedInTheEnd, 0);
});

ordinary('with 64 KiB still gets its secret region', () => {
  const { json, output, status } = runFixture('lock', { ordinary: true, memlock: 65_536 });
  assert.is(status, 0, output);
  assert.is(json.first.mode, 'partial');
  assert.ok(json.first.lockedBytes <= 32_768, output);
  assert.equal(json.region, { kind: 'memfd_secret', locked: true });
});

ordinary('with a limit of nothing locks nothing and says so', () => {
  const { json, output, status } = runFixture('lock', { ordinary: true, memlock: 0 });
  assert.is(status, 0, output);
  assert.is(json.first.mode, 'none');
  assert.is(json.first.lockedBytes, 0);
  assert.equal(json.region, { kind: 'anonymous', locked: false });
});

ordinary.run();
