import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Protection,
  rotationOf,
  WrapperRefusal,
  withBestProtection,
} from '../../../../src/plugins/dev/wrapped/protection.ts';

const test = suite('protection of the demonstrated wrapper');

/** Refuses as told, one attempt after the other. @returns what was tried, and how it came out */
async function attempts(...refusals: Error[]): Promise<[tried: string[], last: Protection | Error]> {
  const tried: string[] = [];
  const start = async (protection: Protection) => {
    tried.push(`${protection.delivery} ${protection.requireMlock} ${rotationOf(protection)}`);
    const refusal = refusals[tried.length - 1];
    if (refusal) throw refusal;
    return protection;
  };
  return [tried, await withBestProtection(start).catch((error: Error) => error)];
}

const lock = new WrapperRefusal('MEMORY_LOCK_REFUSED', 'No lock');
const memfd = new WrapperRefusal('MEMFD_SECRET_UNAVAILABLE', 'No memfd_secret');
const application = new WrapperRefusal(undefined, 'Cannot map');

test('all of it where nothing is refused', async () => {
  const [tried, protection] = await attempts();
  assert.equal(tried, ['fd true sighup']);
  assert.equal((protection as Protection).concessions, []);
});

test('each refusal leaves out one thing, and says so', async () => {
  const [tried, protection] = await attempts(lock, memfd);
  assert.equal(tried, ['fd true sighup', 'fd false sighup', 'env false restart']);
  assert.equal((protection as Protection).concessions, [
    'No lock. So the wrapper runs with SVC_REQUIRE_MLOCK=false.',
    'No memfd_secret. So it delivers by the environment: SVC_DELIVERY=env.',
  ]);
});

test('the lock stays required where only the descriptor is refused', async () => {
  assert.equal((await attempts(memfd))[0], ['fd true sighup', 'env true restart']);
  assert.equal((await attempts(memfd, lock))[0].at(-1), 'env false restart');
});

test('a limit that admits no secret memory, and an application that cannot map it, cost the descriptor', async () => {
  assert.equal((await attempts(lock, lock))[0].at(-1), 'env false restart');
  assert.equal((await attempts(application))[0].at(-1), 'env true restart');
});

test('what cannot be fixed by leaving out is thrown', async () => {
  const denied = new WrapperRefusal('VAULT_DENIED', 'denied');
  const broken = new Error('broken');
  assert.equal(await attempts(denied), [['fd true sighup'], denied]);
  assert.equal(await attempts(broken), [['fd true sighup'], broken]);
  assert.is((await attempts(lock, lock, lock))[1], lock);
});

test.run();
