import { createServer, request } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Loopback, listen } from './loopback.ts';
import { type MeddlingStore, startMeddlingStore } from './meddling-store.ts';
import { waitFor } from './wait-for.ts';

const test = suite('a store that meddles');
let store: Loopback;
let relay: MeddlingStore;

test.before(async () => {
  store = await listen(createServer((request, response) => request.resume().on('end', () => response.end())));
  relay = await startMeddlingStore(store.url);
});

test.after(async () => {
  await relay?.stop();
  await store?.stop();
});

for (const [what, announced, body] of [
  ['nothing', 0, ''],
  ['a whole body', 3, 'abc'],
  ['a part of its body', 9, 'abc'],
] as const)
  test(`says that a caller is lost which goes away while it waits, and had sent ${what}`, async () => {
    const [held, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ends: string[] = [];
    relay.meddle({
      async before() {
        held.resolve();
        await gate.promise;
        return undefined;
      },
      after(_request, answer) {
        ends.push('answered');
        return answer;
      },
      lost: () => void ends.push('lost'),
    });
    const headers = { 'content-length': announced };
    const caller = request(relay.url, { method: 'PUT', headers }).on('error', () => undefined);
    if (body.length === announced) caller.end(body);
    else caller.write(body);
    await held.promise;
    const closed = new Promise((resolve) => caller.once('close', resolve));
    caller.destroy();
    await closed;
    // the relay hears of it a moment later
    await new Promise((resolve) => setTimeout(resolve, 100));
    gate.resolve();
    await waitFor('word of it', () => ends.length > 0);
    assert.equal(ends, ['lost']);
  });

test.run();
