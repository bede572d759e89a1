import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { writeHeapSnapshot } from 'node:v8';
import { createSecretClient } from '../../../../src/keyserver/secret-client/create-secret-client.ts';
import { createSecretMemory } from '../../../../src/runtime/native/secret-memory.ts';

/**
 * Logs in, reads the paths and says what it has by digests. At each signal (SIGUSR2) takes a step: scrubs, closes,
 * ends. A heap snapshot is written before the first step and after the last one.
 */
const { URL: url = '', CA: ca = '', JWT: jwt = '', PATHS: paths = '', SNAPSHOTS: folder = '' } = process.env;

const auth = {
  method: 'kubernetes',
  role: 'app',
  mountPath: 'auth/kubernetes',
  serviceAccountTokenPath: jwt,
} as const;
const endpoint = {
  url: new URL(url),
  skipVerify: false,
  caFiles: [ca],
  caPath: undefined,
  client: undefined,
};
const memory = createSecretMemory({ requireMemfdSecret: true, requireLock: false });
const secretClient = createSecretClient({ config: { endpoint, auth, namespace: undefined }, memory });
const { signal } = new AbortController();

const say = (word: string): void => void writeSync(1, `${word}\n`);
const step = () => once(process, 'SIGUSR2');
const keepAlive = setInterval(() => undefined, 1_000);

await secretClient.logIn(signal);
await secretClient.renew(signal);
const documents = await Promise.all(paths.split(',').map((path) => secretClient.read(path, signal)));
const values = documents.flatMap(({ fields }) => fields.map(({ value }) => value as Buffer));
const digests = values.map((value) => createHash('sha256').update(value).digest('hex'));
writeHeapSnapshot(`${folder}/held.heapsnapshot`);
say(`held ${digests.join()}`);
await step();
const start = performance.now();
const count = secretClient.scrub(values, []);
const again = values.map((value) => createHash('sha256').update(value).digest('hex'));
say(`scrubbed ${count} ${(performance.now() - start).toFixed(1)} ${again.join() === digests.join()}`);
await step();
for (const document of documents) document.release();
secretClient.close();
await new Promise(setImmediate);
writeHeapSnapshot(`${folder}/closed.heapsnapshot`);
say('closed');
await step();
clearInterval(keepAlive);
