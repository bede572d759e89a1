import { allowRole } from '../../plugins/operator/path/key-server.ts';
import type { Report } from '../part.ts';
import { hits, reported, shopContainer } from './attacks.ts';
import {
  type ApiObject,
  comesAbout,
  kubectl,
  type NodeBed,
  type NodeCheck,
  onNode,
  readyPods,
  upgradeChart,
} from './bed.ts';
import { agentRecords } from './install.ts';
import { asked, CONTEXTS, digests, ROLE, shop } from './shop.ts';
import { shopLine } from './workloads.ts';

const AUDIENCE = 'https://vault.example.eu';
const NAME = 'audience';
const ROLE_OF_AUDIENCE = 'app-of-audience';
const PLAIN = { namespace: 'baseline', name: 'plain-token' } as const;
const CONTAINER = 'shop';
const VOLUME = 'svc-wrapper-token';
/** As events of the agent name the attack path. */
const ATTACK_PATH = 'token';
const IN_POD = '/var/run/secrets/svc/token';
/**
 * The file itself. Of the link to it, a pod's user is the owner, in a sticky folder that all may write to: that alone keeps root
 * from following it (fs.protected_symlinks).
 */
const FILE_IN_POD = '/var/run/secrets/svc/..data/token';
/** How a JWT begins. */
const SHOWN = /^eyJ/m;
const DENIED = /Permission denied/;
/** The one has no socket of the agent, in the other wrappers register. */
const TRIED = ['restricted', 'privileged'] as const;

/** With `operator.tokenAudience`, the token of a wrapper opens for it alone, and for the one after it. */
export const tokens: NodeCheck = async (bed, report) => {
  await setAudience(bed, report, AUDIENCE);
  const policies = await policiesOf(bed, ROLE);
  const plain = await plainPod(bed);
  for (const { name, attempt } of ATTEMPTS) {
    const output = await attempt(bed, plain);
    report.check(`${name}: shows the token of a pod without protection`, SHOWN.test(output), start(output));
  }
  for (const namespace of TRIED) {
    await allowRole(bed.bao, ROLE_OF_AUDIENCE, namespace, policies, AUDIENCE);
    const annotations = { ...asked, 'svc/vault-role': ROLE_OF_AUDIENCE };
    await bed.kube.apply(shop({ namespace, name: NAME, annotations, ...CONTEXTS[namespace] }));
    const target = await targetIn(bed, namespace, NAME);
    await comesAbout(bed, namespace, 'the guard of its token', async () => (await guarded(bed, target)) >= 1);
    for (const one of ATTEMPTS) await denied(bed, report, target, one);
    await startsAgain(bed, report, target);
    await kubectl(bed, 'delete', 'deployment', NAME, '--namespace', namespace);
  }
  await kubectl(bed, 'delete', 'deployment', PLAIN.name, '--namespace', PLAIN.namespace);
  await setAudience(bed, report, '');
};

async function policiesOf({ bao }: NodeBed, role: string): Promise<string[]> {
  const { status, json, text } = await bao.request('GET', `auth/kubernetes/role/${role}`);
  if (status !== 200) throw new Error(`OpenBao has no role ${role}: ${text}`);
  return json.data.token_policies;
}

interface Target {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
}

interface Attempt {
  readonly name: string;
  /** @returns both outputs */
  readonly attempt: (bed: NodeBed, target: Target) => Promise<string>;
}

const ATTEMPTS: readonly Attempt[] = [
  { name: 'kubectl exec, then cat', attempt: (bed, target) => execute(bed, target, 'cat', IN_POD) },
  {
    name: 'nsenter by root, then cat',
    attempt: async (bed, target) =>
      byRoot(
        bed,
        `nsenter --target ${await firstProcess(bed, target)} --mount --root /bin/sh -c "cat ${FILE_IN_POD}"`,
      ),
  },
  {
    name: 'cat by root through /proc/PID/root',
    attempt: async (bed, target) =>
      byRoot(bed, `cat /proc/${await firstProcess(bed, target)}/root${FILE_IN_POD}`),
  },
  {
    name: "cat by root of the kubelet's path",
    attempt: (bed, { uid }) =>
      byRoot(bed, `cat /var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~projected/${VOLUME}/..data/token`),
  },
];

const start = (output: string): string => output.slice(0, 200);

async function byRoot({ machine }: NodeBed, script: string): Promise<string> {
  const { stdout, stderr } = await machine.run(`export PATH=/node/bin:$PATH; ${script}`);
  return `${stdout}\n${stderr}`;
}

async function execute({ kube }: NodeBed, { namespace, pod }: Target, ...command: string[]): Promise<string> {
  const at = ['--namespace', namespace, pod, `--container=${CONTAINER}`];
  const { stdout, stderr } = await kube.kubectl(['exec', ...at, '--', ...command]);
  return `${stdout}\n${stderr}`;
}

/** PID on the node of the oldest process of the container. */
async function firstProcess(bed: NodeBed, { namespace, pod }: Target): Promise<string> {
  const { status } = await bed.kube.must('GET', `/api/v1/namespaces/${namespace}/pods/${pod}`);
  const id = shopContainer(status);
  const found = await onNode(
    bed,
    `sort --numeric-sort $(find /sys/fs/cgroup/kubepods.slice -path '*${id}*' -name cgroup.procs) | head --lines=1`,
  );
  if (!/^\d+\n$/.test(found)) throw new Error(`no process in ${namespace}/${pod}: ${found}`);
  return found.trim();
}

async function denied(
  bed: NodeBed,
  report: Report,
  target: Target,
  { name, attempt }: Attempt,
): Promise<void> {
  const { namespace } = target;
  const before = (await hits(bed, target, ATTACK_PATH)).length;
  const output = await attempt(bed, target);
  report.check(`${namespace}: ${name} is denied`, DENIED.test(output) && !SHOWN.test(output), start(output));
  await reported(bed, report, target, name, { before, path: ATTACK_PATH });
}

/** How many processes of a pod the agent has let in. */
async function guarded(bed: NodeBed, { uid }: Target): Promise<number> {
  const records = await agentRecords(bed);
  return records.filter(({ event, pod }) => event === 'token.guarded' && pod === uid).length;
}

/** The wrapper of a container that is restarted logs in with the token again. */
async function startsAgain(bed: NodeBed, report: Report, target: Target): Promise<void> {
  const { namespace, pod } = target;
  const before = await guarded(bed, target);
  await byRoot(bed, `kill -KILL ${await firstProcess(bed, target)}`);
  await readyPods(bed, namespace, `app=${NAME}`, 1, ({ status }: ApiObject) =>
    status.containerStatuses.every(({ restartCount }: ApiObject) => restartCount >= 1),
  );
  const line = await comesAbout(bed, namespace, 'the line of the shop', () =>
    shopLine(bed, namespace, `pod/${pod}`),
  );
  report.check(`${namespace}: a container that is restarted has its secret`, line.includes(digests()), line);
  const again = await comesAbout(
    bed,
    namespace,
    'its guard',
    async () => (await guarded(bed, target)) > before,
  );
  report.check(`${namespace}: and its token is guarded again`, again);
  const output = await execute(bed, target, 'cat', IN_POD);
  report.check(`${namespace}: which kubectl exec is denied`, DENIED.test(output), start(output));
}

/** A pod with such a volume that nobody has asked the webhook about. */
async function plainPod(bed: NodeBed): Promise<Target> {
  const sources = [{ serviceAccountToken: { path: 'token', audience: AUDIENCE } }];
  const pod = { volumes: [{ name: VOLUME, projected: { sources } }] };
  const container = { volumeMounts: [{ name: VOLUME, mountPath: '/var/run/secrets/svc', readOnly: true }] };
  await bed.kube.apply(shop({ ...PLAIN, annotations: {}, pod, container }));
  return targetIn(bed, PLAIN.namespace, PLAIN.name);
}

async function targetIn(bed: NodeBed, namespace: string, app: string): Promise<Target> {
  const [{ metadata }] = await readyPods(bed, namespace, `app=${app}`);
  return { namespace, pod: metadata.name, uid: metadata.uid };
}

/** By `helm upgrade`, until the operator's pod has it. */
async function setAudience(bed: NodeBed, report: Report, audience: string): Promise<void> {
  const { status, stderr } = await upgradeChart(bed, `operator.tokenAudience=${audience}`);
  report.check(`helm sets operator.tokenAudience to ${audience || 'none'}`, status === 0, stderr.trim());
  const hasIt = ({ spec }: ApiObject) =>
    JSON.stringify(spec.containers).includes('SVC_OPERATOR_TOKEN_AUDIENCE') === (audience !== '');
  await comesAbout(bed, 'svc-system', 'the operator with it alone', async () => {
    const { status } = await bed.kube.must(
      'GET',
      '/apis/apps/v1/namespaces/svc-system/deployments/svc-operator',
    );
    return (status.replicas ?? 0) === 1 && status.readyReplicas === 1 && status.updatedReplicas === 1;
  });
  await readyPods(bed, 'svc-system', 'app.kubernetes.io/name=svc-operator', 1, hasIt);
}
