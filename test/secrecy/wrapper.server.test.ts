import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { initProcesses, residentWorker } from '../support/process-memory.ts';
import type { WrapperRun } from '../support/svc-wrapper.ts';
import type { SvcVault } from '../support/types.ts';
import { waitFor } from '../support/wait-for.ts';
import { filesIn } from './support/files.ts';
import { fragmentSearch } from './support/fragments.ts';
import { scanMemory } from './support/memory-scan.ts';
import { findSecrets, type Place } from './support/search.ts';
import {
  descriptorsOf,
  pagesOf,
  startWrapped,
  surroundingsOf,
  type Transport,
  type Wrapped,
} from './support/wrapped.ts';

const test = suite('secrets in and around the wrapper');
let world: Wrapped;

test.before(async () => {
  world = await startWrapped();
});
test.after(() => world?.stop());

const transports: readonly Transport[] = ['plain', 'TLS', 'mTLS broker'];
const rotations = ['restart', 'sighup', 'none'] as const;
const auths: Readonly<Record<string, (name: string) => Promise<Omit<SvcVault, 'addr'>>>> = {
  token: async () => ({ token: await world.kv.token() }),
  async 'token file'(name) {
    const tokenFile = join(world.kubernetes.jwtPath, '..', name);
    writeFileSync(tokenFile, await world.kv.token());
    return { tokenFile };
  },
  kubernetes: async () => ({ kubernetes: world.kubernetes }),
};

/** A second after the last exchange its connection is closed, and its cipher's last bytes are gone as well. */
async function assertClean(run: WrapperRun, name: string, moment: string): Promise<void> {
  const search = fragmentSearch(world.secrets(name));
  let found: readonly string[] = [];
  await waitFor(
    `memory without secrets ${moment}`,
    () => {
      found = [...staying(run)].flatMap((pid) => scanMemory(pid, search).found);
      return found.length === 0;
    },
    { timeoutMs: 8_000, details: () => `${found.join('\n')}\n${run.output()}` },
  );
}

/** svc-init, the process of its health endpoints, and a worker that stays; any other worker's memory goes with it. */
const staying = ({ pid }: WrapperRun): Set<number> => new Set([residentWorker(pid), ...initProcesses(pid)]);

async function lookAround(run: WrapperRun, name: string, moment: string): Promise<Place[]> {
  await assertClean(run, name, moment);
  const places = [...surroundingsOf(run), ...(await pagesOf(run))];
  return places.map((place) => ({ ...place, name: `${place.name}, ${moment}` }));
}

/** From the start over a change of the secrets to looks that fail. */
async function live(auth: string, transport: Transport, rotation: (typeof rotations)[number]): Promise<void> {
  const name = `${auth} ${transport}`.replaceAll(' ', '-');
  await world.write(name);
  const { addr, env } = world.reach(transport);
  const vault = { addr, ...(await auths[auth]?.(name)) };
  const settings = { ...env, SVC_ROTATION: rotation, RENEWAL_INTERVAL: '2500ms' };
  const run = await world.run(vault, { paths: [`secret/${name}`, `kv1/${name}`], env: settings });
  await run.says(/RUN/);
  const places = await lookAround(run, name, 'after the start');
  await world.write(name);
  await run.event(rotation === 'none' ? 'token.kept' : 'secrets.rotated');
  places.push(...(await lookAround(run, name, 'after the change')));
  if (rotation !== 'none') {
    await world.bao.request('DELETE', `kv1/${name}`);
    await run.event('secrets.keep.failed');
    places.push(...(await lookAround(run, name, 'after a look that failed')));
  }
  run.signal('SIGTERM');
  await run.exited;
  const output = { name: 'output', bytes: Buffer.from(run.output()) };
  assert.equal(findSecrets(world.secrets(name), [...places, output, ...filesIn(world.disk.path)]), [], name);
}

for (const [at, auth] of Object.keys(auths).entries())
  test(`neither memory, environment, arguments, pages, log nor files (${auth})`, async () => {
    const ways = transports.map((transport, index) =>
      live(auth, transport, rotations[(at + index) % 3] ?? 'none'),
    );
    await Promise.all(ways);
  });

const bin = (name: string): string => fileURLToPath(new URL(`../../bin/${name}`, import.meta.url));

for (const entry of [[bin('svc-wrapper.js')], [bin('run.js'), 'run', 'wrapper']])
  test(`it is the same started as ${entry.join(' ').replace(/.*bin./, '')}`, async () => {
    const name = `entry-${entry.length}`;
    await world.write(name);
    const { addr, env } = world.reach('TLS');
    const vault = { addr, token: await world.kv.token() };
    const paths = [`secret/${name}`];
    const run = await world.run(vault, { paths, env, entry: [process.execPath, ...entry] });
    await run.says(/RUN/);
    const places = await lookAround(run, name, 'after the start');
    assert.equal(findSecrets(world.secrets(name), places), []);
    const sockets = () =>
      Object.entries(descriptorsOf(residentWorker(run.pid))).filter(
        ([number, to]) => Number(number) > 2 && /^socket:/.test(to),
      );
    // the one that listens for probes, or leads to svc-init
    const kept = 'closed connections, whose ciphers hold what came last';
    await waitFor(kept, () => sockets().length === 1, { timeoutMs: 3_000, details: () => sockets().join() });
  });

test('the same search finds values where they do lie, and text that the wrapper does have', async () => {
  await world.write('control');
  const { addr } = world.reach('plain');
  const stays = { env: { SVC_RESIDENT: 'true' }, paths: ['secret/control'] };
  const run = await world.run({ addr, token: await world.kv.token() }, stays);
  const { pid } = await run.event('application.started');
  await run.says(/RUN/);
  const search = fragmentSearch(world.secrets('control'));
  let found: readonly string[] = [];
  const lacking = () =>
    ['WORD', 'ESCAPED', 'INSIDE', 'LONG'].filter(
      (field) => !found.some((one) => one.startsWith(`control ${field}`)),
    );
  // its shell becomes another program after it has written: for a moment there is no environment
  await waitFor(
    'all values in the application',
    () => {
      found = scanMemory(pid, search).found;
      return lacking().length === 0;
    },
    { timeoutMs: 8_000, details: () => lacking().join() },
  );
  const known = [{ name: 'path', bytes: Buffer.from('secret/data/control') }];
  const worker = residentWorker(run.pid);
  assert.ok(scanMemory(worker, fragmentSearch(known)).found.length > 0, 'a path in the wrapper');
  const { refused } = scanMemory(worker, fragmentSearch([]));
  assert.ok(refused.length > 0 && refused.every(({ name }) => name.startsWith('/secretmem')));
});

test('finds parts of a secret at any place, across the edges of what is read at once', () => {
  const bytes = Buffer.from('0123456789abcdefghijklmnopqrstuvwxyzABCDEF');
  const search = fragmentSearch([{ name: 'one', bytes }]);
  for (let at = 0; at < 9; at++) {
    const memory = Buffer.alloc(100);
    bytes.copy(memory, at, 7, 30);
    assert.equal(search.in(memory), [{ secret: 'one', form: 'raw', at, length: 23 }]);
    assert.equal(search.in(memory.fill(0, at + 15)), [], 'what is short is chance');
  }
});

test.run();
