import { acceptServiceAccounts, allowRole } from '../../plugins/operator/path/key-server.ts';
import { kvStore } from '../../support/kv.ts';
import { comesAbout, kubectl, type NodeBed, type NodeCheck, readyPods } from './bed.ts';
import { logRecords } from './logs.ts';
import { CONTEXTS, digests, GUARDED, LEVELS, PASSWORD, ROLE, shop, USER } from './shop.ts';

/** What a person of the pages sets up once: logins of pods, secrets, a transit key, a bucket. */
export async function setUpKeyServer({ bao, kube, store }: NodeBed): Promise<void> {
  await acceptServiceAccounts(bao, kube);
  const kv = await kvStore(bao);
  await kv.put('shop/db', { user: USER, password: PASSWORD });
  await bao.enableTransit();
  const transit = await bao.transitPolicy();
  for (const namespace of [...LEVELS, GUARDED]) {
    await allowRole(bao, ROLE, namespace, [kv.policy]);
    await allowRole(bao, 'app-proxy', namespace, [transit]);
  }
  await store.createBucket('photos');
}

/** A Deployment at each level starts, has its secret, passes its probes, and its wrapper leaves. */
export const workloads: NodeCheck = async (bed, report) => {
  for (const level of LEVELS) {
    const labels = { 'pod-security.kubernetes.io/enforce': level };
    await bed.kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: level, labels } });
    await bed.kube.createServiceAccount({ namespace: level, name: 'default' });
    await bed.kube.apply(shop({ namespace: level, name: 'shop', ...CONTEXTS[level] }));
  }
  for (const level of LEVELS) {
    await readyPods(bed, level, 'app=shop');
    const line = await comesAbout(bed, level, 'the line of the shop', () => shopLine(bed, level, 'shop'));
    report.check(`${level}: starts with its secret, and its probes pass`, line.includes(digests()), line);
    const { bytes, stays } = await wrapperMemory(bed, level);
    const seen = stays ?? `${bytes} bytes of its own`;
    report.check(`${level}: no Node process of the wrapper stays`, bytes < 1_048_576 && !stays, seen);
  }
};

/** What a shop's wrapper has of its own between two renewals, and why its Node stays where it does. */
async function wrapperMemory(
  bed: NodeBed,
  namespace: string,
): Promise<{ bytes: number; stays: string | undefined }> {
  const records = await logRecords(bed, namespace, 'deployment/shop', '--container=shop');
  const last = (event: string) => records.findLast((record) => record['event'] === event);
  const protection = last('protection');
  const bytes = Number(protection?.['locked_bytes']) + Number(protection?.['unlocked_bytes']);
  const resident = last('resident');
  return { bytes, stays: resident === undefined ? undefined : String(resident['reason']) };
}

/** The line of a shop's container in which it tells what it has. */
export async function shopLine(bed: NodeBed, namespace: string, name: string): Promise<string> {
  const of = name.includes('/') ? name : `deployment/${name}`;
  const text = await kubectl(bed, 'logs', '--namespace', namespace, of, '--container=shop');
  return /^shop .*$/m.exec(text)?.[0] ?? '';
}
