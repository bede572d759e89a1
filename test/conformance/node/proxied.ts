import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { isEnvelopeHeader } from '../../../src/objects/format/metadata.ts';
import { pushApplication } from '../../support/node/images.ts';
import type { Report } from '../part.ts';
import { comesAbout, kubectl, type NodeBed, type NodeCheck, readyPods } from './bed.ts';
import { asked, CONTEXTS, shop } from './shop.ts';

const NAMESPACE = 'restricted';
const NAME = 'proxied';
const BUCKET = 'photos';
const APPLICATION = { repository: 'photos', tag: '1' } as const;
const TEXT = 'a photograph of a correct horse';

/**
 * Writes an object unless it is there, and reads it back; writes another one when its pod is to end. All by minio-go,
 * which signs with the keys that the pod has been given for its proxy.
 */
const PROGRAM = `
s3() { minio-go-client --address=127.0.0.1:8190 "$@"; }
read_back() { s3 get ${BUCKET} first /tmp/back | tee /tmp/said | grep -qv code && echo "read $(cat /tmp/back)"; }
put() { echo "$2" > /tmp/photo && echo "put $1 $(s3 file ${BUCKET} "$1" /tmp/photo)"; }
trap 'put last "$PHOTO"; echo drained; exit 0' TERM
read_back || { put first "$PHOTO"; read_back; } || cat /tmp/said
touch /tmp/done
while :; do sleep 1 & wait $!; done
`;

/** An application at the level restricted stores objects through the proxy beside it. */
export const proxied: NodeCheck = async (bed, report) => {
  await pushApplication(bed.registry, bed.folder, APPLICATION, 'minio-go-client');
  await bed.kube.apply(storeKeys(bed), serviceConfig(), deployment(bed));
  const [first] = await readyPods(bed, NAMESPACE, `app=${NAME}`);
  const log = await logOf(bed, first.metadata.name);
  report.check('it wrote an object through its proxy, and reads it back', wroteAndRead(log), log);
  await checkStored(bed, report, 'first');
  await end(bed, first.metadata.name);
  await checkStored(bed, report, 'last');
  const [second] = await readyPods(bed, NAMESPACE, `app=${NAME}`);
  const again = await logOf(bed, second.metadata.name);
  const reads = again.includes(`read ${TEXT}`) && !again.includes('put first');
  report.check('another pod reads what the first one wrote', reads, again);
  const at = ['--namespace', NAMESPACE];
  await kubectl(bed, 'delete', `deployment/${NAME}`, `serviceconfig/${NAME}`, `secret/${NAME}`, ...at);
};

const wroteAndRead = (log: string): boolean => log.includes('put first') && log.includes(`read ${TEXT}`);

const metadata = { name: NAME, namespace: NAMESPACE };

function storeKeys({ store }: NodeBed): object {
  const { accessKeyId, secretAccessKey } = store;
  const stringData = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData };
}

function serviceConfig(): object {
  const proxy = {
    ...{ enabled: true, role: 'app-proxy', upstream: 'https://s3.example.eu' },
    ...{ callerKeys: true, credentialsSecret: NAME },
  };
  const spec = { selector: { matchLabels: { app: NAME } }, proxy };
  return { apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata, spec };
}

function deployment({ store }: NodeBed): object {
  const probe = { exec: { command: ['cat', '/tmp/done'] }, periodSeconds: 15, timeoutSeconds: 14 };
  const env = [
    { name: 'AWS_REGION', value: store.region },
    { name: 'PHOTO', value: TEXT },
  ];
  const { repository, tag } = APPLICATION;
  return shop({
    ...{ ...metadata, annotations: asked },
    pod: {
      ...CONTEXTS.restricted.pod,
      // what is in flight has time on an emulated machine
      terminationGracePeriodSeconds: 120,
      volumes: [{ name: 'tmp', emptyDir: {} }],
    },
    container: {
      ...CONTEXTS.restricted.container,
      ...{ image: `registry.example/${repository}:${tag}`, env },
      ...{ command: ['/bin/sh', '-c', PROGRAM], args: [] },
      volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
      ...{ readinessProbe: { ...probe, failureThreshold: 8 }, livenessProbe: null },
    },
  });
}

const logOf = (bed: NodeBed, pod: string): Promise<string> =>
  kubectl(bed, 'logs', '--namespace', NAMESPACE, pod, '--container=shop');

/** The store itself holds an envelope. */
async function checkStored(bed: NodeBed, report: Report, key: string): Promise<void> {
  const body = await comesAbout(bed, NAMESPACE, `the object ${key} in the store`, async () =>
    readFileSync(join(bed.store.dataDir, BUCKET, key)),
  );
  const head = await bed.store.client.send(new HeadObjectCommand({ Bucket: BUCKET, Key: key }));
  const names = Object.keys(head.Metadata ?? {}).map((name) => `x-amz-meta-${name}`);
  const sealed = !body.includes(TEXT) && names.some(isEnvelopeHeader);
  report.check(`the store holds an envelope of ${key}, and no plaintext`, sealed, names.join(' '));
}

/** Deletes it: the application's last write needs the proxy, which ends after it. */
async function end(bed: NodeBed, pod: string): Promise<void> {
  const following = kubectl(bed, 'logs', '--namespace', NAMESPACE, pod, '--container=shop', '--follow');
  await kubectl(bed, 'delete', 'pod', pod, '--namespace', NAMESPACE);
  const log = await following;
  if (!log.includes('drained')) throw new Error(`the application did not write at its end: ${log}`);
}
