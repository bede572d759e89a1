import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Child, launch } from '../../support/child.ts';
import { cleanEnv } from '../../support/clean-env.ts';
import { startOpenBao } from '../../support/openbao.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { waitFor } from '../../support/wait-for.ts';

const test = suite('traces of secrets in the process that read them');

const program = fileURLToPath(new URL('programs/reads-and-waits.ts', import.meta.url));
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('no string, no ordinary memory: only secret memory has them', async () => {
  const bao = await startOpenBao({ tls: true });
  const folder = temporaryFolder('traces');
  let child: Child | undefined;
  try {
    const policy =
      'path "secret/data/*" { capabilities = ["read"] }\npath "auth/token/renew-self" { capabilities = ["update"] }';
    await bao.request('PUT', 'sys/policies/acl/app', { policy });
    const kubernetes = await bao.enableKubernetesAuth({ role: 'app', policies: ['app'] });
    const secrets = ['one', 'two'].map((name) => ({ name, value: `${randomBytes(18).toString('hex')}"é\n` }));
    for (const { name, value } of secrets)
      await bao.request('POST', `secret/data/${name}`, { data: { value } });
    const env = { URL: bao.url, CA: bao.caFile, JWT: kubernetes.jwtPath, SNAPSHOTS: folder.path };
    child = await launch(process.execPath, [program], {
      env: cleanEnv({ ...env, PATHS: 'secret/one,secret/two' } as Record<string, string>),
    });
    const needles = [
      ...secrets.map(({ value }) => value.slice(4, 34)),
      readFileSync(kubernetes.jwtPath, 'utf8').slice(-40),
    ];
    await said(child, 'held');
    assert.match(child.logs(), new RegExp(`held ${secrets.map(({ value }) => sha256(value)).join()}`));
    assert.equal(inFile(join(folder.path, 'held.heapsnapshot'), needles), []);
    process.kill(child.pid, 'SIGUSR2');
    await said(child, 'scrubbed');
    assert.match(child.logs(), /scrubbed \d+ [\d.]+ true/);
    assert.equal([...inMemory(child.pid, needles), ...tokensIn(child.pid)], []);
    process.kill(child.pid, 'SIGUSR2');
    await said(child, 'closed');
    assert.equal([...inMemory(child.pid, needles), ...tokensIn(child.pid)], []);
    assert.equal(inFile(join(folder.path, 'closed.heapsnapshot'), needles), []);
    // The search does find what is there.
    assert.equal(inFile(join(folder.path, 'closed.heapsnapshot'), ['reads-and-waits']), ['reads-and-waits']);
    assert.equal(inMemory(child.pid, ['reads-and-waits']), ['reads-and-waits']);
  } finally {
    await child?.end('SIGKILL');
    await bao.stop();
    await folder.remove();
  }
});

const said = (child: Child, word: string) =>
  waitFor(word, () => child.ended || new RegExp(`^${word}\\b`, 'm').test(child.logs()), {
    details: child.logs,
  });

const inFile = (path: string, needles: readonly string[]): string[] => {
  const bytes = readFileSync(path);
  return needles.filter((needle) => bytes.includes(needle));
};

/** What of the needles stands in any memory of the process that root can read. */
function inMemory(pid: number, needles: readonly string[]): string[] {
  const parts = readMemory(pid);
  return needles.filter((needle) => parts.some((bytes) => bytes.includes(needle)));
}

/** What looks like a token of OpenBao's. */
const tokensIn = (pid: number): string[] =>
  readMemory(pid).flatMap((bytes) => bytes.toString('latin1').match(/\bs\.[A-Za-z0-9]{24}\b/g) ?? []);

function readMemory(pid: number): Buffer[] {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    const lines = readFileSync(`/proc/${pid}/maps`, 'latin1').split('\n');
    return lines.map((line) => readRange(memory, line));
  } finally {
    closeSync(memory);
  }
}

/** Empty for what cannot be read or cannot be written: program text has no secrets. */
function readRange(memory: number, line: string): Buffer {
  const [, start, end] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
  if (start === undefined || end === undefined) return Buffer.alloc(0);
  const from = Number.parseInt(start, 16);
  const bytes = Buffer.alloc(Number.parseInt(end, 16) - from);
  try {
    return bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, from));
  } catch {
    return Buffer.alloc(0);
  }
}

test.run();
