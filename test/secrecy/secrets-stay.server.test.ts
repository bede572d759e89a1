import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type KeyRecorder, startKeyRecorder } from '../support/key-recorder.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary.ts';
import type { KubernetesAuth, SvcVault } from '../support/types.ts';
import { waitFor } from '../support/wait-for.ts';
import { filesIn } from './support/files.ts';
import { findSecrets, type Place, type Secret } from './support/search.ts';
import { Traffic } from './support/traffic.ts';

const test = suite('secrets stay where they belong');
const marker = randomBytes(24);
const callers = {
  SVC_PROXY_ACCESS_KEY_ID: 'AKCALLER',
  SVC_PROXY_SECRET_ACCESS_KEY: 'the-secret-of-the-callers',
};
let rig: Rig;
let recorder: KeyRecorder;
let kubernetes: KubernetesAuth;
let disk: TemporaryFolder;

test.before(async () => {
  rig = await startRig({ logged: true });
  recorder = await startKeyRecorder(rig.toVault.url);
  kubernetes = await rig.bao.enableKubernetesAuth();
  disk = temporaryFolder('secrecy');
});
test.after(async () => {
  await rig?.stop();
  await recorder?.stop();
  await disk?.remove();
});

/** Plaintext with the marker at its beginning, every few KiB, and at its end. */
function payload(bytes: number): Buffer {
  const body = randomBytes(bytes);
  for (let at = 0; at + marker.length <= bytes; at += 4000) marker.copy(body, at);
  if (bytes > marker.length) marker.copy(body, bytes - marker.length);
  return body;
}

const secrets = (): Secret[] => [
  { name: 'plaintext', bytes: marker },
  { name: 'secret key of the store', bytes: Buffer.from(rig.store.secretAccessKey) },
  { name: 'secret key of the callers', bytes: Buffer.from(callers.SVC_PROXY_SECRET_ACCESS_KEY) },
  { name: 'JWT', bytes: readFileSync(kubernetes.jwtPath) },
  ...[...recorder.tokens].map((token, index) => ({ name: `token ${index}`, bytes: Buffer.from(token) })),
  ...recorder.keys.map((bytes, index) => ({ name: `key ${index}`, bytes })),
];

/** What each test has seen; searched at its end, when all secrets are known. */
interface Seen {
  readonly places: Place[];
  readonly traffic: Traffic;
}

async function lookAround({ places, traffic }: Seen, moment: string): Promise<void> {
  places.push({ name: `health, ${moment}`, bytes: await traffic.health() });
  places.push(...filesIn(disk.path));
}

/** Puts, gets, parts, copies, then each of the failures. */
async function everything(seen: Seen): Promise<void> {
  const { traffic } = seen;
  await traffic.succeed();
  await lookAround(seen, 'after success');
  await traffic.fail();
  await traffic.tamper();
  await lookAround(seen, 'after refusals');
  await keyServerFailures(seen);
  await storeFailures(seen);
}

async function keyServerFailures(seen: Seen): Promise<void> {
  const { traffic } = seen;
  const failing = async (moment: string) => {
    await traffic.fail();
    await lookAround(seen, moment);
    await rig.toVault.heal();
  };
  await rig.bao.seal();
  await failing('sealed');
  await rig.bao.unseal();
  await rig.toVault.refuse();
  await failing('key server away');
  const nonsense = JSON.stringify({ data: { plaintext: payload(32).toString('base64') } });
  for (const [status, body] of [
    [200, nonsense],
    [400, JSON.stringify({ errors: ['message authentication failed'] })],
    [500, JSON.stringify({ errors: ['internal error'] })],
  ] as const) {
    rig.toVault.answer(status, body, { when: /transit/ });
    await failing(`key server answers ${status}`);
  }
}

async function storeFailures(seen: Seen): Promise<void> {
  const { traffic } = seen;
  const failing = async (moment: string) => {
    await traffic.fail();
    await lookAround(seen, moment);
    await rig.toStore.heal();
  };
  await rig.toStore.refuse();
  await failing('store away');
  rig.toStore.cutAfter(1000, 'to-client', 'reset');
  await failing('store cuts answers');
  rig.toStore.cutAfter(1000, 'to-server', 'reset');
  await failing('store cuts requests');
  rig.toStore.answer(500, '<Error><Code>InternalError</Code></Error>');
  await failing('store answers 500');
}

const vaults: Record<string, () => SvcVault> = {
  token: () => ({ addr: recorder.url, token: rig.token }),
  kubernetes: () => ({ addr: recorder.url, kubernetes }),
};

for (const [auth, args] of [
  ['token', []],
  ['kubernetes', ['--strict', '--verify-buffer', '64KiB', '--verify-budget', '1MiB', '--inline-limit', '0']],
] as const)
  test(`outputs, health, answers, disk, store: nothing of them anywhere (${auth})`, async () => {
    const env = {
      ...callers,
      SVC_LOG_LEVEL: 'debug',
      SVC_PROXY_SPOOL_DIR: disk.path,
      TMPDIR: disk.path,
    };
    const proxy = await rig.proxy({ args, env, vault: vaults[auth]?.() as SvcVault });
    const seen: Seen = { places: [], traffic: new Traffic(rig, proxy, payload) };
    await everything(seen);
    await endAndSearch(proxy, seen);
  });

async function endAndSearch(proxy: RiggedProxy, { places, traffic }: Seen): Promise<void> {
  await waitFor('debug lines', () => proxy.output().includes('"proxy.request"'));
  await proxy.kill('SIGTERM');
  places.push(
    { name: 'standard output and error', bytes: Buffer.from(proxy.output()) },
    { name: 'answers to callers', bytes: Buffer.concat(traffic.heard) },
    { name: 'heads of requests to the store', bytes: Buffer.from(JSON.stringify(rig.log.requests)) },
    ...filesIn(disk.path, rig.store.dataDir),
  );
  const all = secrets();
  assert.ok(recorder.keys.length > 20 && recorder.tokens.size > 0, 'the recorder has seen keys and tokens');
  assert.ok(places.some(({ name }) => name.startsWith(rig.store.dataDir)) && traffic.heard.length > 100);
  assert.equal(findSecrets(all, places), []);
  const data = all.filter(({ name }) => name === 'plaintext');
  assert.equal(findSecrets(data, [{ name: 'what the key server was sent', bytes: recorder.sent() }]), []);
}

test('the same search finds the keys where they do pass, and plaintext that is written past the proxy', async () => {
  const wire = { name: 'what the key server was sent', bytes: recorder.sent() };
  assert.ok(findSecrets(secrets(), [wire]).some((found) => found.startsWith('key ')));
  const { PutObjectCommand } = await import('@aws-sdk/client-s3');
  const planted = { Bucket: rig.bucket, Key: 'planted', Body: payload(100) };
  await rig.store.client.send(new PutObjectCommand(planted));
  const found = findSecrets(secrets(), filesIn(rig.store.dataDir));
  assert.ok(
    found.length > 0 && found.every((line) => /^plaintext as raw in .*planted$/.test(line)),
    found.join('\n'),
  );
});

test.run();
