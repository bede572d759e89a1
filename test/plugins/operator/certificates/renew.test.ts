import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type AuthorityState,
  authoritiesOf,
  fromData,
  nothingStored,
  type StoredState,
  toData,
} from '../../../../src/plugins/operator/certificates/authority-store.ts';
import { servedBy } from '../../../../src/plugins/operator/certificates/follow-certificates.ts';
import { agentFiles, renewed } from '../../../../src/plugins/operator/certificates/keeper.ts';
import { dayMs, usualLifetimes } from '../../../../src/plugins/operator/certificates/verdict.ts';
import { isIssuedBy, readCertificate, validityOf } from '../../../../src/runtime/net/certificates.ts';

export const slow = true;

interface Context {
  first: AuthorityState;
}

const test = suite<Context>('renewal of the authority and what it signs');
const start = Date.UTC(2026, 0, 1);
const lifetimes = usualLifetimes;
const dnsNames = ['svc-operator.svc-system.svc'];

const step = (stored: StoredState, now: number, settled = true) =>
  renewed(stored, { now, settled, lifetimes, dnsNames });

test.before(async (context) => {
  context.first = (await step(nothingStored, start)).state;
});

const isNewest = ({ authority, server }: AuthorityState): boolean =>
  isIssuedBy(readCertificate(server.cert), readCertificate(authority.cert));

test('makes everything where there is nothing, and nothing where all is good', async ({ first }) => {
  assert.ok(isNewest(first));
  assert.is(first.previous, undefined);
  const { state, changes } = await step(first, start + 19 * dayMs);
  assert.equal(changes, []);
  assert.equal(state, first);
});

test('survives being stored', ({ first }) => {
  assert.equal(fromData(toData(first)), first);
  const rolling = { ...first, previous: first.authority.cert };
  assert.equal(fromData(toData(rolling)), rolling);
});

test('replaces the server’s certificate at two thirds of its life', async ({ first }) => {
  const { state, changes } = await step(first, start + 20.1 * dayMs);
  assert.equal(changes, ['server certificate: two thirds of its life are over']);
  assert.is(state.authority.cert, first.authority.cert);
  assert.is.not(state.server.cert, first.server.cert);
});

test('announces a new authority first, and drops the former one last', async ({ first }) => {
  const due = start + 244 * dayMs;
  const { state: fresh } = await step(first, due - 3 * dayMs);
  const announced = await step(fresh, due, true);
  assert.equal(announced.changes, ['authority: two thirds of its life are over']);
  assert.is(announced.state.server.cert, fresh.server.cert);
  assert.is(announced.state.previous, fresh.authority.cert);
  assert.is(authoritiesOf(announced.state), announced.state.authority.cert + fresh.authority.cert);

  const waiting = await step(announced.state, due + dayMs, false);
  assert.equal(waiting.changes, []);
  const served = await step(announced.state, due + dayMs, true);
  assert.equal(served.changes, ['server certificate: its authority was replaced']);
  assert.ok(isNewest(served.state));
  assert.is(served.state.previous, fresh.authority.cert);

  const last = validityOf(readCertificate(fresh.server.cert)).to;
  const kept = await step(served.state, Math.max(last, due + 29 * dayMs), true);
  assert.is(kept.state.previous, fresh.authority.cert);
  const dropped = await step(kept.state, due + 31 * dayMs, true);
  assert.is(dropped.state.previous, undefined);
  assert.equal(dropped.changes, ['former authority: nothing of it is in use']);
});

test('does not wait forever for a bundle that nobody writes', async ({ first }) => {
  const { state: fresh } = await step(first, start + 244 * dayMs - 1);
  const { state: announced } = await step(fresh, start + 245 * dayMs);
  const late = await step(announced, start + 244 * dayMs + 27.1 * dayMs, false);
  assert.equal(late.changes, ['server certificate: its life is nearly over']);
  assert.ok(isNewest(late.state));
});

test('keeps serving what the former authority signed when its key is lost', async ({ first }) => {
  const stored = { ...first, authority: { ...first.authority, key: 'none' } };
  const { state, changes } = await step(stored, start + dayMs);
  assert.equal(changes, ['authority: it cannot be used: the private key cannot be read']);
  assert.is(state.server.cert, first.server.cert);
  assert.is(state.previous, first.authority.cert);
});

test('replaces whatever is corrupt, foreign or for another name', async ({ first }) => {
  const other = (await step(nothingStored, start)).state;
  const broken: Record<string, StoredState> = {
    'cannot be used: there is no certificate': { ...first, authority: { cert: 'x', key: 'y' } },
    'there is none': { ...first, server: undefined },
    'another authority': { ...first, server: other.server },
    'does not belong': { ...first, server: { ...first.server, key: other.server.key } },
    'not an authority': { ...first, authority: first.server },
  };
  for (const [reason, stored] of Object.entries(broken)) {
    const { state, changes } = await step(stored, start + dayMs);
    assert.match(changes.join('; '), reason);
    servedBy(state);
    assert.ok(isNewest(state) || state.previous !== undefined, reason);
    assert.equal((await step(state, start + dayMs, false)).changes, [], reason);
  }
  const moved = await renewed(first, { now: start, settled: true, lifetimes, dnsNames: ['new.name'] });
  assert.equal(moved.changes, ['server certificate: it is not for DNS:new.name']);
});

test('forgets a former authority that cannot be read', async ({ first }) => {
  const { state, changes } = await step({ ...first, previous: 'garbage' }, start + dayMs);
  assert.is(state.previous, undefined);
  assert.is(changes.length, 1);
});

test('heals after a clock that jumped far ahead and back again', async ({ first }) => {
  const { state: ahead } = await step(first, start + 1_000 * dayMs);
  assert.is.not(ahead.authority.cert, first.authority.cert);
  const { state: back } = await step(ahead, start + dayMs);
  const { from, to } = validityOf(readCertificate(back.server.cert));
  assert.ok(from < start + dayMs && start + dayMs < to);
  assert.is(back.previous, undefined);
  assert.ok(isNewest(back));
  const behind = await step(first, start - 9 * 60_000);
  assert.equal(behind.changes, []);
});

test('serves for years without a day on which it could not be verified', async ({ first }) => {
  let state: AuthorityState = first;
  let files: Readonly<Record<string, string>> = {};
  let settledFrom = 0;
  let bundle = '';
  const signed: { readonly cert: string; readonly until: number }[] = [];
  let authorities = 0;
  for (let now = start; now < start + 900 * dayMs; now += 1.3 * dayMs) {
    // the API server knows a bundle only some days after it was made
    const settled = bundle === authoritiesOf(state) && now - settledFrom > 3 * dayMs;
    const before = state;
    ({ state } = await step(state, now, settled));
    if (before.authority.cert !== state.authority.cert) authorities += 1;
    if (bundle !== authoritiesOf(state)) [bundle, settledFrom] = [authoritiesOf(state), now];
    const facts = { now, lifetimes, serverBundle: bundle, settled: now - settledFrom > 3 * dayMs };
    ({ data: files } = await agentFiles(files, state, facts));
    for (const cert of [state.server.cert, files['tls.crt'] as string]) {
      const { from, to } = validityOf(readCertificate(cert));
      assert.ok(from < now && now + 2 * dayMs < to, `valid on ${new Date(now).toISOString()}`);
      if (signed.at(-1)?.cert !== cert && signed.at(-2)?.cert !== cert) signed.push({ cert, until: to });
    }
    const known = bundle.split(/(?<=-----END CERTIFICATE-----\n)/).map(readCertificate);
    assert.ok(known.length <= 2);
    for (const { cert } of signed.filter(({ until }) => until > now)) {
      assert.ok(
        known.some((one) => isIssuedBy(readCertificate(cert), one)),
        'its authority is known',
      );
    }
    if (!isNewest(state)) assert.ok(state.previous !== undefined);
    assert.is(files['ca.crt'], bundle);
  }
  assert.is(authorities, 3);
  assert.ok(signed.length > 80);
});

test('lets agents keep their files while nothing is due, and renews theirs in good order', async ({
  first,
}) => {
  const serverBundle = authoritiesOf(first);
  const facts = { now: start, lifetimes, serverBundle, settled: false };
  const made = await agentFiles({}, first, facts);
  assert.is(made.changes.length, 2);
  const leaf = readCertificate(made.data['tls.crt'] as string);
  assert.is(leaf.subjectAltName, 'URI:svc://node-agent');
  assert.equal(leaf.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  const again = await agentFiles(made.data, first, facts);
  assert.equal(again, { data: made.data, changes: [] });
  const other = await agentFiles(made.data, first, { ...facts, serverBundle: 'another' });
  assert.is(other.data['tls.crt'], made.data['tls.crt']);
  assert.is(other.data['ca.crt'], 'another');
  const foreign = await agentFiles({ 'tls.crt': 'x', 'tls.key': 'y', other: 'z' }, first, facts);
  assert.equal(Object.keys(foreign.data), ['tls.crt', 'tls.key', 'ca.crt']);
});

test.run();
