import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type NameResolver, systemResolver } from '../../../src/cluster/kube/name-book.ts';
import { type DnsAnswers, replyTo } from '../../support/name-server.ts';

export const idle = true;

interface Rig {
  server: Socket;
  answers: DnsAnswers;
  resolve: NameResolver;
  questions: number;
}

const test = suite<Rig>('resolver of names');
const [A, AAAA] = [1, 28] as const;
const [SERVFAIL, NXDOMAIN] = [2, 3] as const;
const v6 = [0x20, 0x01, 0x0d, 0xb8, ...Array.from({ length: 11 }, () => 0), 1];
const { signal } = new AbortController();

test.before.each(async (rig) => {
  rig.answers = {};
  rig.questions = 0;
  rig.server = createSocket('udp4', (question, { port, address }) => {
    rig.questions += 1;
    const reply = replyTo(question, rig.answers);
    if (reply !== undefined) rig.server.send(reply, port, address);
  });
  rig.server.bind(0, '127.0.0.1');
  await once(rig.server, 'listening');
  rig.resolve = systemResolver([`127.0.0.1:${rig.server.address().port}`]);
});

test.after.each(async ({ server }) => {
  server.close();
  await once(server, 'close');
});

test('gives all addresses of both families', async (rig) => {
  rig.answers = {
    [A]: [
      [192, 0, 2, 1],
      [192, 0, 2, 2],
    ],
    [AAAA]: [v6],
  };
  const { addresses, failed } = await rig.resolve('vault.example.com', signal);
  assert.equal([...addresses].sort(), ['192.0.2.1', '192.0.2.2', '2001:db8::1']);
  assert.is(failed, false);
});

test('leaves out what is beyond 256 addresses of a family', async (rig) => {
  rig.answers = { [A]: Array.from({ length: 400 }, (_, at) => [192, 0, at >> 8, at & 255]), [AAAA]: [v6] };
  const { addresses } = await rig.resolve('vault.example.com', signal);
  assert.is(addresses.length, 257);
  assert.ok(addresses.includes('2001:db8::1'));
});

test('takes a name without addresses of a family, or that is not there, for an answer', async (rig) => {
  rig.answers = { [A]: [[192, 0, 2, 1]], [AAAA]: [] };
  assert.equal(await rig.resolve('vault.example.com', signal), { addresses: ['192.0.2.1'], failed: false });
  rig.answers = { [A]: NXDOMAIN, [AAAA]: NXDOMAIN };
  assert.equal(await rig.resolve('vault.example.com', signal), { addresses: [], failed: false });
});

test('says when not all could be asked, with what is known', async (rig) => {
  rig.answers = { [A]: [[192, 0, 2, 1]], [AAAA]: SERVFAIL };
  assert.equal(await rig.resolve('vault.example.com', signal), {
    addresses: ['192.0.2.1'],
    failed: true,
    failedFamily: 6,
  });
  rig.answers = { [A]: SERVFAIL, [AAAA]: SERVFAIL };
  assert.equal(await rig.resolve('vault.example.com', signal), { addresses: [], failed: true });
});

test('gives up on name servers that say nothing', async (rig) => {
  rig.answers = { [A]: 'silence', [AAAA]: 'silence' };
  assert.equal(await rig.resolve('vault.example.com', signal), { addresses: [], failed: true });
});

test('says the same of what is no name', async (rig) => {
  const { addresses } = await rig.resolve(`${'x'.repeat(64)}.example`, signal);
  assert.equal(addresses, []);
});

test('ends with its signal', async (rig) => {
  rig.answers = { [A]: 'silence', [AAAA]: 'silence' };
  const stop = new AbortController();
  const reason = new Error('the end');
  const asked = rig.resolve('vault.example.com', stop.signal);
  while (rig.questions === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort(reason);
  await asked.then(
    () => assert.unreachable(),
    (error) => assert.is(error, reason),
  );
});

test.run();
