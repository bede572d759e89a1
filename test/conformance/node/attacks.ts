import { comesAbout, type NodeBed, type NodeCheck, onNode, readyPods } from './bed.ts';
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
  readonly pod: string;
  readonly namespace: string;
  readonly variables: string;
}

/** Each first at a pod that nobody protects, where it has to succeed, then at one of each level. */
export const attacks: NodeCheck = async (bed, report) => {
  const plain = await plainPod(bed);
  for (const { name, script } of ATTACKS) {
    const { leaked } = await attempt(bed, plain, script);
    report.check(`${name}: shows the secret of a pod without protection`, leaked);
  }
  for (const level of LEVELS) {
    const target = await targetOf(bed, level, 'shop');
    for (const { name, script } of ATTACKS) await denied(bed, report, target, name, script);
  }
};

const denied = async (
  bed: NodeBed,
  report: Parameters<NodeCheck>[1],
  target: Target,
  name: string,
  script: string,
): Promise<void> => {
  const before = (await hits(bed, target)).length;
  const { leaked, said } = await attempt(bed, target, script);
  report.check(`${target.namespace}: ${name} shows nothing`, !leaked, said.slice(-200).trim());
  const reported = await comesAbout(bed, target.namespace, `a report of ${name}`, async () => {
    const all = await hits(bed, target);
    return all.length > before && all.at(-1);
  }).catch((error: Error) => ({ missing: error.message }));
  const text = JSON.stringify(reported);
  report.check(
    `${target.namespace}: ${name} is reported with the pod's name`,
    text.includes(target.pod),
    text,
  );
};

async function attempt(
  bed: NodeBed,
  { variables }: Target,
  script: string,
): Promise<{ readonly leaked: boolean; readonly said: string }> {
  const file = '/tmp/attack-output';
  const text = `export PATH=/node/bin:$PATH; ${variables}; (${script}) > ${file} 2>&1; grep -ac ${PASSWORD} ${file}; tail -c 300 ${file} | tr -cd '[:print:]\\n'; rm ${file}`;
  const { stdout } = await bed.machine.run(text);
  const [count = '', ...said] = stdout.split('\n');
  return { leaked: count !== '0', said: said.join('\n') };
}

/** What the agent has logged of attempts at a pod. */
async function hits(bed: NodeBed, { pod }: Target) {
  const records = await agentRecords(bed);
  return records.filter(
    ({ event, ...rest }) => /^hit\./.test(`${event}`) && JSON.stringify(rest).includes(pod),
  );
}

async function plainPod(bed: NodeBed): Promise<Target> {
  const env = [{ name: 'password', value: PASSWORD }];
  const name = 'plain';
  await bed.kube.apply(shop({ namespace: 'baseline', name, annotations: {}, container: { env } }));
  await readyPods(bed, 'baseline', 'app=plain');
  return targetOf(bed, 'baseline', name);
}

/** The pod's one process that serves. */
export async function targetOf(bed: NodeBed, namespace: string, app: string): Promise<Target> {
  const [{ metadata, status }] = await readyPods(bed, namespace, `app=${app}`);
  const statuses: { name: string; containerID: string }[] = status.containerStatuses;
  const id = statuses.find(({ name }) => name === 'shop')?.containerID.replace('containerd://', '') ?? '';
  const found = await onNode(
    bed,
    `pgrep --full '^/bin/busybox httpd' | while read pid; do grep -q ${id} /proc/$pid/cgroup && echo $pid; done; true`,
  );
  const pid = Number(found.trim().split('\n').at(-1));
  if (!pid) throw new Error(`no process serves in ${namespace}/${metadata.name}`);
  return { namespace, pod: metadata.name, variables: `pid=${pid}; container=${id}` };
}
