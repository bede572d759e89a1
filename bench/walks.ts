import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { createKubeClient } from '../src/cluster/kube/create-client.ts';
import { launch } from '../test/support/child.ts';
import { cleanEnv } from '../test/support/clean-env.ts';
import { kvStore } from '../test/support/kv.ts';
import { startOpenBao } from '../test/support/openbao.ts';
import { startOperatorCluster } from '../test/support/operator-cluster.ts';
import { startRig } from '../test/support/rig.ts';
import { startWrapper } from '../test/support/svc-wrapper.ts';
import { vaultEnvironment } from '../test/support/vault-environment.ts';
import type { Bench, Row } from './harness/bench.ts';
import { median } from './harness/median.ts';
import { asAdmitted, authority } from './operator/admission.ts';
import { subjects } from './operator/pods.ts';
import { createNamespace } from './operator/populate.ts';
import { createWebhookCaller, reviewOf } from './operator/webhook-caller.ts';
import { watchWalk } from './walks/files-run.ts';

export const name = 'walks';
export const summary = 'How many files of src/ a request runs through, from its start to its end';

/** The files of one walk. */
type Walked = readonly [name: string, files: readonly string[]];

export const run: Bench['run'] = async (say) => {
  const walks: Walked[] = [];
  for (const walk of [walkProxy, walkWrapper, walkValidate, walkAdmission]) walks.push(...(await walk(say)));
  return [
    {
      title: 'Files that a walk runs through',
      columns: ['files', 'lines'],
      rows: walks.map(([name, files]) => row(name, files)),
      notes: [
        'Counted are files of which a function was called; files that only declare types are not.',
        'Of requests to a running process: files that each of three calls ran, without what it does besides.',
      ],
    },
    { title: 'All files', columns: ['files', 'lines', 'median', 'largest'], rows: [sizesRow()], notes: [] },
  ];
};

async function walkProxy(say: (progress: string) => void): Promise<Walked[]> {
  const [rig, walk] = [await startRig(), watchWalk()];
  try {
    say('proxy');
    const { s3, pid } = await rig.proxy({ under: walk.under });
    const at = { Bucket: rig.bucket, Key: 'object' };
    const put = async (Key: string) =>
      s3.send(new PutObjectCommand({ ...at, Key, Body: randomBytes(3 * 1024 ** 2) }));
    const get = async () =>
      (
        await s3.send(new GetObjectCommand({ ...at, Range: 'bytes=1000-2000000' }))
      ).Body?.transformToByteArray();
    // once before it counts: what is built at the first request is no part of each
    await put('first');
    const written = await walk.inEach(pid, () => put(at.Key));
    await put(at.Key);
    await get();
    // written anew, as what was read before is remembered
    const read = await walk.inEach(pid, get, () => put(at.Key));
    return [
      ['PUT of 3 MiB', written],
      ['GET of a range', read],
    ];
  } finally {
    await rig.stop();
    await walk.remove();
  }
}

async function walkWrapper(say: (progress: string) => void): Promise<Walked[]> {
  const [bao, walk] = [await startOpenBao(), watchWalk()];
  try {
    say('wrapper');
    const kv = await kvStore(bao);
    await kv.put('app', { PASSWORD: 'x' });
    const vault = { addr: bao.url, token: await kv.token() };
    const started = await startWrapper({
      vault,
      paths: ['secret/app'],
      command: ['/bin/sleep', '1'],
      under: walk.under,
    });
    await started.exited;
    if (started.events('application.started').length === 0) throw new Error(started.output());
    return [['wrapper, from its arguments to a running application', await walk.end()]];
  } finally {
    await bao.stop();
    await walk.remove();
  }
}

async function walkValidate(say: (progress: string) => void): Promise<Walked[]> {
  const [bao, walk] = [await startOpenBao(), watchWalk()];
  try {
    say('validate');
    await bao.enableTransit();
    const vault = { addr: bao.url, token: await bao.policyToken() };
    const words = ['bin/run.js', 'validate', '--pre', '--json', '--check', 'SVC-VAULT-001'];
    const [file = '', ...args] = [...walk.under, process.execPath, `/${words.shift()}`, ...words];
    const child = await launch(file, args, { env: cleanEnv(vaultEnvironment(vault)) });
    await child.exited;
    return [['one check of validate', await walk.end()]];
  } finally {
    await bao.stop();
    await walk.remove();
  }
}

async function walkAdmission(say: (progress: string) => void): Promise<Walked[]> {
  say('admission');
  const cluster = await startOperatorCluster({ replicas: 0 });
  const walk = watchWalk();
  try {
    const client = await createKubeClient({ KUBECONFIG: cluster.kubernetes.kubeconfig() });
    if (client === undefined) throw new Error('there is no API server');
    const replica = await cluster.add({ memory: { under: [...walk.under] } });
    await createNamespace(client, 'walk');
    const [subject] = subjects('registry.example/app:1');
    const review = reviewOf(await asAdmitted(client, subject?.pod ?? {}, 'walk'), 'walk');
    const caller = createWebhookCaller(replica.started['webhook'] ?? '', await authority(client));
    await caller.call(review);
    const files = await walk.inEach(replica.pid, () => caller.call(review));
    caller.close();
    client.close();
    return [['one admission', files]];
  } finally {
    await cluster.stop();
    await walk.remove();
  }
}

const source = fileURLToPath(new URL('../src/', import.meta.url));
const linesOf = (file: string) => readFileSync(source + file, 'utf8').split('\n').length - 1;

function row(name: string, files: readonly string[]): Row {
  return { name, cells: [files.length, files.reduce((sum, file) => sum + linesOf(file), 0)] };
}

function sizesRow(): Row {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const sizes = files.map(linesOf);
  return {
    name: 'src',
    cells: [files.length, sizes.reduce((sum, size) => sum + size, 0), median(sizes), Math.max(...sizes)],
  };
}
