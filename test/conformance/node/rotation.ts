import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiObject,
  comesAbout,
  kubectl,
  type NodeBed,
  type NodeCheck,
  podsGone,
  readyPods,
} from './bed.ts';
import { askDemo, demo, pushDemo, shown } from './demo.ts';
import { asked, CONTEXTS, digests, PASSWORD, shop, USER } from './shop.ts';

const NAMESPACE = 'restricted';
const RENEWED = 'fresh-horse-battery-stapler';
const AWAY_MS = 120_000;
/** Each renewal starts a Node, which takes seconds on an emulated processor: twenty every 20 s leave nothing for the probes. */
const INTERVAL = '480s';
/** Twenty pods in all; one emulated machine has no room for twenty of each. */
const REPLICAS = { restart: 7, sighup: 7, none: 6 } as const;
type Mode = keyof typeof REPLICAS;
/** A process in each of twenty containers every minute would be a good part of what an emulated processor can do. */
const livesByHttp = {
  livenessProbe: {
    ...{ periodSeconds: 60, timeoutSeconds: 14, failureThreshold: 8 },
    httpGet: { path: '/', port: 8000 },
  },
};

/** A new version of a secret reaches the pods in the way that they ask for, though the key server is away for two minutes. */
export const rotation: NodeCheck = async (bed, report) => {
  await pushDemo(bed);
  const annotations = (mode: Mode) => ({ 'svc/rotation': mode, 'svc/renewal-interval': INTERVAL });
  const workload = (mode: Mode): object =>
    mode === 'sighup'
      ? demo(mode, { ...annotations(mode), 'svc/delivery': 'fd' }, REPLICAS[mode])
      : shop({
          ...{ namespace: NAMESPACE, name: mode, replicas: REPLICAS[mode] },
          pod: CONTEXTS.restricted.pod,
          container: { ...CONTEXTS.restricted.container, ...livesByHttp },
          annotations: { ...asked, ...annotations(mode) },
        });
  const pods = new Map<Mode, readonly ApiObject[]>();
  // one after the other, because probes of twenty that start at once on emulated processors fail
  for (const mode of ['restart', 'sighup', 'none'] as const) {
    await bed.kube.apply(workload(mode));
    pods.set(mode, await readyPods(bed, NAMESPACE, `app=${mode}`, REPLICAS[mode]));
  }
  const started = new Map<Mode, readonly number[]>();
  for (const mode of pods.keys()) started.set(mode, await restartsOf(bed, mode));
  const before = await countOf(pods.get('sighup') ?? [], (pod) => demoShows(bed, pod, PASSWORD));
  report.check('all that read by the SDK have the first version', before === REPLICAS.sighup, `${before}`);
  await bed.bao.seal();
  await sleep(AWAY_MS);
  await bed.bao.unseal();
  const { status } = await bed.bao.request('POST', 'secret/data/shop/db', {
    data: { user: USER, password: RENEWED },
  });
  report.check('the key server is back, and has a new version', status === 200, `${status}`);
  await reaches(bed, report, 'restart', pods, (pod) => lastLineHas(bed, pod, RENEWED));
  await reaches(bed, report, 'sighup', pods, (pod) => demoShows(bed, pod, RENEWED));
  const untouched = await countOf(pods.get('none') ?? [], (pod) => lastLineHas(bed, pod, PASSWORD));
  report.check('none: nothing happens', untouched === REPLICAS.none, `${untouched} of ${REPLICAS.none}`);
  for (const mode of pods.keys()) {
    const restarts = await restartsOf(bed, mode);
    report.check(
      `${mode}: no container has ended since`,
      restarts.join() === started.get(mode)?.join(),
      `${restarts} restarts, ${started.get(mode)} before`,
    );
    await kubectl(bed, 'delete', 'deployment', mode, '--namespace', NAMESPACE);
  }
  // ending twenty containers takes an emulated processor minutes, and what comes next is not about that
  for (const mode of pods.keys()) await podsGone(bed, NAMESPACE, `app=${mode}`);
  await bed.bao.request('POST', 'secret/data/shop/db', { data: { user: USER, password: PASSWORD } });
};

/** Of the containers of ready pods, in the order of their names. */
async function restartsOf(bed: NodeBed, mode: Mode): Promise<number[]> {
  const pods = await readyPods(bed, NAMESPACE, `app=${mode}`, REPLICAS[mode]);
  return pods
    .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
    .flatMap(({ status }) => status.containerStatuses)
    .map(({ restartCount }) => restartCount);
}

async function reaches(
  bed: NodeBed,
  report: Parameters<NodeCheck>[1],
  mode: Mode,
  pods: ReadonlyMap<Mode, readonly ApiObject[]>,
  has: (pod: ApiObject) => Promise<boolean>,
): Promise<void> {
  const begun = performance.now();
  await comesAbout(bed, NAMESPACE, `the new version in ${mode}`, async () => {
    const count = await countOf(pods.get(mode) ?? [], has);
    return count === REPLICAS[mode];
  });
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  report.check(`${mode}: the new version reaches all ${REPLICAS[mode]}`, true, `${seconds} s after the last`);
}

async function countOf(
  pods: readonly ApiObject[],
  has: (pod: ApiObject) => Promise<boolean>,
): Promise<number> {
  let count = 0;
  for (const pod of pods) if (await has(pod)) count += 1;
  return count;
}

const demoShows = async (bed: NodeBed, { metadata }: ApiObject, value: string): Promise<boolean> =>
  shown(value).test(await askDemo(bed, metadata.name, '/protected'));

async function lastLineHas(bed: NodeBed, { metadata }: ApiObject, password: string): Promise<boolean> {
  const text = await kubectl(bed, 'logs', '--namespace', NAMESPACE, metadata.name, '--container=shop');
  return (
    text
      .match(/^shop .*$/gm)
      ?.at(-1)
      ?.includes(digests(password)) ?? false
  );
}
