/** The wrapper on a machine whose clock may be set: from its start over renewals, changes and jumps of the clock to its end. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const say = (record: object) => process.stdout.write(`${JSON.stringify(record)}\n`);

let [value, version, renewals] = ['first', 1, 0];
const responses: [RegExp, () => object][] = [
  [/\/token\/renew-self$/, () => ({ auth: { ...lease, client_token: 's.of-the-test' } })],
  [/\/token\/lookup-self$/, () => ({ data: { ...lease, ttl: 3600, creation_ttl: 3600 } })],
  [/\/internal\/ui\/mounts\//, () => ({ data: { path: 'secret/', type: 'kv', options: { version: '2' } } })],
  [/\/secret\/data\/app$/, () => ({ data: { data: { KEY: value }, metadata: { version } } })],
];
const lease = { lease_duration: 3600, renewable: true, policies: [] };
const server = createServer((request, response) => {
  const path = (request.url ?? '').split('?')[0] as string;
  if (path.endsWith('/renew-self')) renewals++;
  const found = responses.find(([pattern]) => pattern.test(path));
  response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify(found ? found[1]() : { errors: [] }));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

const wrapper = spawn(
  '/usr/bin/node',
  [
    '/opt/svc/bin/svc-wrapper.js',
    '--secrets=secret/app',
    '--',
    '/bin/sh',
    '-c',
    'echo "VALUE=$KEY"; exec sleep 3600',
  ],
  {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      VAULT_ADDR: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      VAULT_TOKEN: 's.of-the-test',
      SVC_ROTATION: 'restart',
      SVC_RESIDENT: 'false',
      SVC_STARTUP_TIMEOUT: '120s',
      SVC_LOG_FORMAT: 'json',
      RENEWAL_INTERVAL: '2s',
      HEALTH_ADDR: '127.0.0.1:8400',
    },
  },
);
let output = '';
for (const stream of [wrapper.stdout, wrapper.stderr]) stream.on('data', (text) => (output += text));
const ended = once(wrapper, 'exit');
const pid = wrapper.pid as number;

async function until(what: string, check: () => boolean): Promise<void> {
  for (let waited = 0; !check(); waited += 50) {
    if (waited > 120_000 || wrapper.exitCode !== null) throw new Error(`no ${what}: ${output}`);
    await sleep(50);
  }
}

const twoMore = async (what: string) => {
  const before = renewals;
  await until(`renewal ${what}`, () => renewals >= before + 2);
};
const setClock = (days: number) =>
  spawnSync('date', ['-s', `@${Math.floor(Date.now() / 1000) + days * 86_400}`]).status;
const statusOf = (one: number | string) => readFileSync(`/proc/${one}/status`, 'latin1');
const kilobytes = (one: number, field: string) =>
  Number(
    new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${one}/smaps_rollup`, 'latin1'))?.[1],
  );
const childrenOf = (one: number) =>
  readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && new RegExp(`^PPid:\\t${one}$`, 'm').test(statusOf(name)),
  );
const seccompOf = (one: string | undefined) => one && /^Seccomp:\t(\d)$/m.exec(statusOf(one))?.[1];
const get = async (path: string) => (await fetch(`http://127.0.0.1:8400${path}`)).text();

await until('application', () => output.includes('VALUE=first'));
say({
  kind: 'started',
  program: readlinkSync(`/proc/${pid}/exe`),
  privateDirty: kilobytes(pid, 'Private_Dirty'),
});
const healthProcess = () =>
  childrenOf(pid).find((one) => readlinkSync(`/proc/${one}/exe`).endsWith('svc-init'));
await until('health process under its filter', () => seccompOf(healthProcess()) === '2');
say({ kind: 'health', body: await get('/healthz') });
await twoMore('at first');
[value, version] = ['second', 2];
await until('second value', () => output.includes('VALUE=second'));
say({ kind: 'rotated' });
for (const days of [1, -2, 1]) {
  const set = setClock(days);
  await twoMore(`after a jump of ${days} days`);
  say({ kind: 'jumped', days, set, health: await get('/healthz') });
}
[value, version] = ['third', 3];
await until('third value', () => output.includes('VALUE=third'));
const metrics = await get('/metrics');
process.kill(pid, 'SIGTERM');
const [code] = await ended;
say({ kind: 'end', code, failed: output.match(/"event":"worker.failed"/g)?.length ?? 0, metrics });
process.exit();
