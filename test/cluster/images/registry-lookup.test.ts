import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createRegistryLookup, searchDomainsIn } from '../../../src/cluster/images/registry-lookup.ts';

const test = suite<{ asked: string[] }>('names of registries');

test.before.each((context) => {
  context.asked = [];
});

type Known = Readonly<Record<string, readonly string[] | 'silent'>>;

function lookUp(asked: string[], known: Known, host: string): Promise<unknown> {
  const resolver = async (name: string) => {
    asked.push(name);
    const found = known[name] ?? [];
    return found === 'silent' ? { addresses: [], failed: true } : { addresses: found, failed: false };
  };
  const lookup = createRegistryLookup(resolver, ['team.svc.cluster.local', 'cluster.local']);
  return new Promise((resolve) => {
    lookup(host, { all: true }, (error, addresses) => resolve(error?.code ?? addresses));
  });
}

test('are asked for as they are, then in the search domains', async ({ asked }) => {
  const known = { 'registry.tools.cluster.local': ['10.0.0.1', 'fd00::1'] };
  assert.equal(await lookUp(asked, known, 'registry.tools'), [
    { address: '10.0.0.1', family: 4 },
    { address: 'fd00::1', family: 6 },
  ]);
  assert.equal(asked, [
    'registry.tools',
    'registry.tools.team.svc.cluster.local',
    'registry.tools.cluster.local',
  ]);
});

test('without a dot are of the search domains first, with a dot at the end of none', async ({ asked }) => {
  await lookUp(asked, { 'registry.team.svc.cluster.local': ['10.0.0.1'] }, 'registry');
  assert.is(await lookUp(asked, {}, 'registry.example.'), 'ENOTFOUND');
  assert.equal(asked, ['registry.team.svc.cluster.local', 'registry.example.']);
});

test('for which name servers are silent are told from those that do not exist', async ({ asked }) => {
  assert.is(await lookUp(asked, { 'a.example': 'silent' }, 'a.example'), 'EAI_AGAIN');
  assert.is(await lookUp(asked, {}, 'b.example'), 'ENOTFOUND');
});

test('have sixteen addresses at most', async ({ asked }) => {
  const many = Array.from({ length: 256 }, (_, at) => `192.0.2.${at}`);
  assert.is(((await lookUp(asked, { 'a.example': many }, 'a.example')) as unknown[]).length, 16);
});

test('are never asked for where they mean this machine', async ({ asked }) => {
  assert.equal(await lookUp(asked, {}, 'localhost'), [{ address: '127.0.0.1', family: 4 }]);
  assert.equal(asked, []);
});

test('have the search domains of the last line that names some', () => {
  const text =
    'nameserver 10.96.0.10\nsearch a.example\nsearch team.svc.cluster.local  cluster.local .\noptions ndots:5\n';
  assert.equal(searchDomainsIn(text), ['team.svc.cluster.local', 'cluster.local']);
  assert.equal(searchDomainsIn('nameserver 10.96.0.10\n'), []);
});

test.run();
