import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startWrapper } from '../support/svc-wrapper.ts';
import { fragmentSearch } from './support/fragments.ts';
import { everyFormOf, type Mischief, mischiefs, startHostileServer } from './support/hostile-server.ts';
import { scanMemory } from './support/memory-scan.ts';
import { findSecrets, type Secret } from './support/search.ts';
import { pagesOf, surroundingsOf } from './support/wrapped.ts';

const test = suite('what a hostile key server brings into logs');

const secret = (name: string, text: string): Secret => ({ name, bytes: Buffer.from(text) });
const random = () => randomBytes(21).toString('base64url');
const token = `s.${random()}`;
const value = random();
const secrets = [secret('token', token), secret('value', value)];
const { bodies, heads } = mischiefs(secrets);
const command = ['/bin/sh', '-c', 'trap "" HUP; echo RUN; exec sleep 600'];

/** Several at a time: each waits for its second chance. */
async function each<T>(work: (name: string, mischief: Mischief) => Promise<T>): Promise<T[]> {
  const all = Object.entries({ ...bodies, ...heads });
  const results: T[] = [];
  while (all.length > 0)
    results.push(...(await Promise.all(all.splice(0, 8).map(([name, mischief]) => work(name, mischief)))));
  return results;
}

test('nothing, where it is so from the start', async () => {
  await each(async (name, mischief) => {
    const server = await startHostileServer({ VALUE: value });
    server.mischief = mischief;
    const env = { SVC_STARTUP_TIMEOUT: '300ms', SVC_LOG_LEVEL: 'debug' };
    const vault = { addr: server.url, token };
    const run = await startWrapper({ vault, paths: ['secret/app'], command, env });
    const { code } = await run.exited;
    const output = { name: `output after ${name}`, bytes: Buffer.from(run.output()) };
    await run.stop();
    await server.stop();
    assert.ok([69, 77, 78].includes(code ?? 0), `${name}: ${code}\n${run.output()}`);
    assert.equal(findSecrets(secrets, [output]), [], run.output());
    assert.is(run.events('start.failed').length, 1);
  });
});

test('nothing, and nothing into pages and memory, where it turns hostile later', async () => {
  const stops: (() => Promise<unknown>)[] = [];
  const turn = async (name: string, mischief: Mischief) => {
    const server = await startHostileServer({ VALUE: value });
    stops.push(() => server.stop());
    const env = { SVC_ROTATION: 'sighup', RENEWAL_INTERVAL: '1s', SVC_LOG_LEVEL: 'debug' };
    const vault = { addr: server.url, token };
    const run = await startWrapper({ vault, paths: ['secret/app'], command, env });
    stops.push(() => run.stop());
    await run.says(/RUN/);
    server.mischief = mischief;
    await run.event('secrets.keep.failed');
    const places = [...surroundingsOf(run), ...(await pagesOf(run))];
    assert.equal(findSecrets(secrets, [...places, { name, bytes: Buffer.from(run.output()) }]), []);
    return { name, run };
  };
  try {
    // Searching memory keeps this process from everything else, longer than a health endpoint waits for a request
    for (const { name, run } of await each(turn))
      if (name in bodies) assert.equal(scanMemory(run.pid, fragmentSearch(secrets)).found, [], name);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});

test('the search knows every form that the server uses', () => {
  for (const form of everyFormOf(secrets))
    assert.not.equal(findSecrets(secrets, [{ name: 'echo', bytes: Buffer.from(form, 'latin1') }]), []);
});

test.run();
