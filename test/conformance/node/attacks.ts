import {
  type ApiObject,
  comesAbout,
  kubectl,
  type NodeBed,
  type NodeCheck,
  onNode,
  readyPods,
} from './bed.ts';
import { agentRecords } from './install.ts';
import { LEVELS, PASSWORD, shop } from './shop.ts';

interface Attack {
  readonly name: string;
  /** A script of root on the node; `$pid` is the process that has the secrets, `$container` its container's id. */
  readonly script: string;
}

const CRI = 'ctr --namespace k8s.io';

/** What a node's own tools can try; each shows the password where nothing is protected. */
const ATTACKS: readonly Attack[] = [
  { name: 'cat /proc/PID/environ', script: 'cat /proc/$pid/environ' },
  { name: 'cat /proc/PID/task/PID/environ', script: 'cat /proc/$pid/task/$pid/environ' },
  {
    name: 'nsenter, then cat environ',
    script: 'nsenter --target $pid --mount --pid --root /bin/sh -c "cat /proc/[0-9]*/environ"',
  },
  {
    name: 'ctr task exec, as crictl exec does',
    script: `${CRI} task exec --exec-id attack-$$ $container /bin/sh -c "cat /proc/[0-9]*/environ"`,
  },
  {
    name: 'gdb',
    script:
      "gdb --batch --nx -p $pid -ex 'x/s *(char**)environ' -ex 'info proc' 2>&1; cat /proc/$pid/environ",
  },
  {
    name: 'gcore',
    script:
      "rm -f /tmp/core; gdb --batch --nx -p $pid -ex 'generate-core-file /tmp/core'; cat /tmp/core; rm -f /tmp/core",
  },
  {
    name: 'dd of /proc/PID/mem',
    script: [
      'set -- $(grep "\\[stack\\]" /proc/$pid/maps | cut -d " " -f 1 | tr - " ")',
      'dd if=/proc/$pid/mem bs=4096 skip=$((0x$1 / 4096)) count=$(((0x$2 - 0x$1) / 4096)) 2> /dev/null',
    ].join('; '),
  },
];

interface Target {
  /** The pod's name. */
  readonly pod: string;
  readonly namespace: string;
  /** Of a shell: `pid` on the node, and `container`. */
  readonly variables: string;
}

/** Who tries, by a script, and gets what it says. */
type Attacker = (script: string) => Promise<string>;

/** Each first at a pod that nobody protects, where it has to succeed, then at one of each level. */
export const attacks: NodeCheck = async (bed, report) => {
  const root: Attacker = async (script) => (await bed.machine.run(script)).stdout;
  const plain = await plainPod(bed);
  for (const { name, script } of ATTACKS) {
    const leaked = await attempt(root, plain, script);
    report.check(`${name}: shows the secret of a pod without protection`, leaked);
  }
  for (const level of LEVELS) {
    const target = await targetOf(bed, level, 'shop');
    for (const { name, script } of ATTACKS) await denied(bed, report, target, name, root, script);
  }
};

const EVERYONE = 'cat /proc/[0-9]*/environ';

/** From pods: one with all rights on the node, a container beside the application, and `kubectl exec` into it. */
export const neighbours: NodeCheck = async (bed, report) => {
  const inPod =
    (namespace: string, pod: string, container: string): Attacker =>
    async (script) => {
      const at = ['--namespace', namespace, pod, `--container=${container}`];
      return (await bed.kube.kubectl(['exec', ...at, '--', '/bin/sh', '-c', script])).stdout;
    };
  const rogue = await roguePod(bed);
  const fromRogue = inPod('privileged', rogue, 'shop');
  const plain = await plainPod(bed);
  const shown = await attempt(fromRogue, plain, 'cat /proc/$pid/environ');
  report.check('a privileged pod reads the secret of a pod without protection', shown);
  const target = await targetOf(bed, 'restricted', 'shop');
  for (const { name, script } of ATTACKS.slice(0, 3)) {
    await denied(bed, report, target, `a privileged pod, ${name}`, fromRogue, script);
  }
  const exec = inPod('restricted', target.pod, 'shop');
  await denied(bed, report, target, 'kubectl exec, cat of all environments', exec, EVERYONE);
  const [composed] = await readyPods(bed, 'restricted', 'app=composed');
  const shared = { namespace: 'restricted', pod: composed.metadata.name, variables: 'true' };
  const beside = inPod('restricted', shared.pod, 'side');
  await denied(bed, report, shared, 'a container that shares the processes', beside, EVERYONE);
  await kubectl(bed, 'delete', 'deployment', 'composed', '--namespace', 'restricted');
  await kubectl(bed, 'delete', 'deployment', 'rogue', '--namespace', 'privileged');
  await kubectl(bed, 'delete', 'deployment', 'plain', '--namespace', 'baseline');
};

const denied = async (
  bed: NodeBed,
  report: Parameters<NodeCheck>[1],
  target: Target,
  name: string,
  attacker: Attacker,
  script: string,
): Promise<void> => {
  const before = (await hits(bed, target)).length;
  const leaked = await attempt(attacker, target, script);
  report.check(`${target.namespace}: ${name} shows nothing`, !leaked);
  await reported(bed, report, target, name, { before });
};

/**
 * Waits for the agent's report of what was tried.
 * @param before how many reports of the pod there were, of that attack path where one is given
 */
export async function reported(
  bed: NodeBed,
  report: Parameters<NodeCheck>[1],
  target: Pick<Target, 'namespace' | 'pod'>,
  name: string,
  { before, path }: { readonly before: number; readonly path?: string },
): Promise<void> {
  const { namespace, pod } = target;
  let seen: unknown;
  const named = await comesAbout(bed, namespace, `a report of ${name}`, async () => {
    const fresh = (await hits(bed, target, path)).slice(before);
    seen = fresh.at(-1);
    // the pod's other containers may be tried as well, the nameless one of its sandbox among them
    return fresh.some(
      (hit) => hit['target_pod_name'] === `${namespace}/${pod}` && hit['target_container'] === 'shop',
    );
  }).catch(() => false);
  report.check(
    `${namespace}: ${name} is reported with the names of pod and container`,
    named,
    JSON.stringify(seen),
  );
}

/** Whether what it shows holds the password. @throws Error where it was not tried */
async function attempt(attacker: Attacker, { variables }: Target, script: string): Promise<boolean> {
  const output = await attacker(
    `export PATH=/node/bin:$PATH; ${variables}; { ${script}; } 2>&1 | grep -ac -e ${PASSWORD}`,
  );
  if (!/^\d+\n$/.test(output)) throw new Error(`the attack was not tried: ${script}: ${output}`);
  return output !== '0\n';
}

/** Whether root on the node reads the secret of a pod in the plainest way. */
export const attempted = (bed: NodeBed, target: Target): Promise<boolean> =>
  attempt(async (script) => (await bed.machine.run(script)).stdout, target, 'cat /proc/$pid/environ');

/** What the agent has logged of attempts at a pod. @param path by this attack path; default: by any */
export async function hits(bed: NodeBed, { pod }: Pick<Target, 'pod'>, path?: string) {
  const records = await agentRecords(bed);
  return records.filter(
    ({ event, ...rest }) =>
      /^hit\./.test(`${event}`) &&
      (path === undefined || rest['road'] === path) &&
      JSON.stringify(rest).includes(pod),
  );
}

async function plainPod(bed: NodeBed): Promise<Target> {
  const env = [{ name: 'password', value: PASSWORD }];
  const name = 'plain';
  await bed.kube.apply(shop({ namespace: 'baseline', name, annotations: {}, container: { env } }));
  await readyPods(bed, 'baseline', 'app=plain');
  return targetOf(bed, 'baseline', name);
}

/** Root with all capabilities, and with the node's processes. @returns its name */
async function roguePod(bed: NodeBed): Promise<string> {
  const container = { securityContext: { privileged: true } };
  const pod = { hostPID: true, securityContext: { runAsUser: 0 } };
  await bed.kube.apply(
    shop({ ...{ namespace: 'privileged', name: 'rogue', annotations: {} }, container, pod }),
  );
  const [{ metadata }] = await readyPods(bed, 'privileged', 'app=rogue');
  return metadata.name;
}

/** The pod's one process that serves. */
export async function targetOf(bed: NodeBed, namespace: string, app: string): Promise<Target> {
  const [{ metadata, status }] = await readyPods(bed, namespace, `app=${app}`);
  const id = shopContainer(status);
  const found = await onNode(
    bed,
    `pgrep --full '^/bin/busybox httpd' | while read pid; do grep -q ${id} /proc/$pid/cgroup && echo $pid; done; true`,
  );
  const pid = Number(found.trim().split('\n').at(-1));
  if (!pid) throw new Error(`no process serves in ${namespace}/${metadata.name}`);
  return { namespace, pod: metadata.name, variables: `pid=${pid}; container=${id}` };
}

/** The runtime's id of a pod's container `shop`. @param status of the pod @throws Error where it has none */
export function shopContainer({ containerStatuses }: ApiObject): string {
  const statuses: { name: string; containerID: string }[] = containerStatuses;
  const id = statuses.find(({ name }) => name === 'shop')?.containerID.replace('containerd://', '');
  if (!id) throw new Error(`no container shop: ${JSON.stringify(statuses)}`);
  return id;
}
