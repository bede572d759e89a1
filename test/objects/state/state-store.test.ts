import type { RequestListener } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryBudget, MemorySpent } from '../../../src/objects/held-memory.ts';
import { UpstreamStateStore } from '../../../src/objects/state/state-store.ts';
import { localStore, rejection, upstreamOf } from '../upstream/support.ts';

const test = suite('a store that fails helper objects');

/** A state store before a store that answers by `listener`; counts requests. */
async function before(listener: RequestListener, memory = new MemoryBudget()) {
  let requests = 0;
  const store = await localStore((request, response) => {
    requests += 1;
    request.resume();
    listener(request, response);
  });
  const state = new UpstreamStateStore({
    config: { stateBucket: undefined, reservedPrefix: '.svc/' },
    upstream: upstreamOf(store.url),
    memory,
    buckets: {
      keepsVersions: async () => 'no',
      keepsVersionsNow: async () => 'no',
      locked: async () => false,
    },
  });
  const stop = async () => {
    state.close();
    await store.stop();
  };
  return { state, requests: () => requests, stop };
}

test('is asked again a few times', async () => {
  let failures = 2;
  const { state, requests, stop } = await before((_, response) => {
    if (failures-- > 0) response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
    else response.end('body');
  });
  assert.is(await state.get('b', 'k', 100), 'body');
  assert.is(requests(), 3);
  failures = 9;
  const error = await rejection(state.put('b', 'k', 'x'));
  assert.equal([error.status, error.code], [503, 'ServiceUnavailable']);
  assert.match(String(error.message), /SlowDown/);
  assert.is(requests(), 6);
  await stop();
});

test('is asked again for a page of a listing', async () => {
  let failures = 2;
  const { state, requests, stop } = await before((_, response) => {
    if (failures-- > 0) response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
    else response.end('<ListBucketResult><Contents><Key>.svc/a</Key></Contents></ListBucketResult>');
  });
  const keys: string[] = [];
  for await (const page of state.list('b', '.svc/')) keys.push(...page.map(({ key }) => key));
  assert.equal(keys, ['.svc/a']);
  assert.is(requests(), 3);
  await stop();
});

test('is not asked, nor blamed, while there is no memory for a page', async () => {
  const memory = new MemoryBudget();
  let waits = 0;
  const spent = {
    take() {
      waits += 1;
      return Promise.reject(new MemorySpent());
    },
    tryTake: () => false,
    release: () => undefined,
  };
  memory.hold = () => spent;
  const { state, requests, stop } = await before((_, response) => response.end(), memory);
  const error = await rejection(state.list('b', '.svc/')[Symbol.asyncIterator]().next());
  assert.equal([error.code, waits, requests()], ['SlowDown', 1, 0]);
  await stop();
});

test('is not asked again after a refusal', async () => {
  const { state, requests, stop } = await before((_, response) => {
    response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>secret words</Message></Error>');
  });
  const error = await rejection(state.get('b', 'k', 100));
  assert.is(error.code, 'ServiceUnavailable');
  assert.match(String(error.message), /AccessDenied/);
  assert.not.match(String(error.message), /secret words/);
  assert.is(requests(), 1);
  await stop();
});

/** Follows a listing whose every page says that it goes on. @returns how often the store was asked until that was refused */
async function askedWithoutEnd(tokenOf: (page: number) => string): Promise<number> {
  let page = 0;
  const { state, requests, stop } = await before((_, response) => {
    const token = tokenOf(++page);
    response.end(
      `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken></ListBucketResult>`,
    );
  });
  const pages = state.list('b', '.svc/')[Symbol.asyncIterator]();
  const all = async () => {
    while (!(await pages.next()).done);
  };
  assert.is((await rejection(all())).status, 503);
  await stop();
  return requests();
}

test('is not followed through a listing without end', async () => {
  assert.is(await askedWithoutEnd((page) => `${page}`), 1_000);
});

test('is not followed to where it has led before', async () => {
  assert.is(await askedWithoutEnd(() => 'same'), 2);
  assert.is(await askedWithoutEnd((page) => `${page % 3}`), 4);
});

test('is not followed to a place whose name is too long to keep', async () => {
  assert.is(await askedWithoutEnd((page) => `${page}`.padEnd(8_192, '-')), 1_000);
  assert.is(await askedWithoutEnd((page) => `${page}`.padEnd(8_193, '-')), 1);
});

test('is not taken at its word when it could not delete', async () => {
  const { state, stop } = await before((_, response) => {
    response.end('<DeleteResult><Error><Key>k</Key><Code>AccessDenied</Code></Error></DeleteResult>');
  });
  assert.match(String((await rejection(state.delete('b', ['k']))).message), /AccessDenied/);
  await stop();
});

test.run();
