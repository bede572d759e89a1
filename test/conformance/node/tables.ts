import { type ApiObject, comesAbout, type NodeBed, type NodeCheck, onNode } from './bed.ts';
import { LEVELS } from './shop.ts';

const SYSTEM = '/api/v1/namespaces/svc-system/pods';

interface Entry {
  readonly key: readonly string[];
  readonly value: readonly string[];
}

/** What scores, reports and metrics say is what the kernel's tables hold, read by another program than the agent. */
export const figures: NodeCheck = async (bed, report) => {
  const labelled = await labelledPods(bed);
  const held = new Set((await table(bed, 'cgroups')).map(({ key }) => idIn(key)));
  const ids = await cgroupsOf(bed);
  for (const { metadata } of labelled) {
    const id = ids.get(metadata.uid);
    const name = `${metadata.namespace}/${metadata.name}`;
    report.check(`the kernel's table holds the cgroup of ${name}`, id !== undefined && held.has(id), `${id}`);
  }
  const own = labelled.map(({ metadata }) => ids.get(metadata.uid));
  const others = [...ids].filter(([, id]) => held.has(id) && !own.includes(id));
  report.check('and no pod without the label', others.length === 0, others.map(([uid]) => uid).join(' '));
  const agent = await agentMetrics(bed);
  const covered = agent('svc_agent_protected_pods');
  report.check(
    'the agent counts as many pods',
    covered === labelled.length,
    `${covered} of ${labelled.length}`,
  );
  report.check('it names none as uncovered', agent('svc_agent_uncovered_pods') === undefined);
  // the decoy's flag is 2
  const processes = (await table(bed, 'processes')).filter(({ value }) => !(Number(value[0]) & 2)).length;
  const counted = (await agentMetrics(bed))('svc_agent_protected_processes');
  const detail = `${counted} counted, ${processes} in the table`;
  report.check('and as many processes as the table has', counted === processes, detail);
  await scoresHold(bed, report);
};

async function scoresHold(bed: NodeBed, report: Parameters<NodeCheck>[1]): Promise<void> {
  for (const level of LEVELS) {
    const workload = await comesAbout(bed, level, 'a report that the shop is enforced', async () => {
      const shop = (await reportOf(bed, level)).find((one) => one.name === 'shop');
      return shop !== undefined && pointsOf(shop, 'enforcement') === 20 && shop;
    });
    const addends = workload.addends.map(({ name, points, of }: ApiObject) => `${name} ${points}/${of}`);
    const sum = workload.addends.reduce((all: number, { points }: ApiObject) => all + points, 0);
    report.check(`${level}: the report gives all points for coverage`, pointsOf(workload, 'coverage') === 5);
    report.check(`${level}: its score is the sum`, sum === workload.score, `${workload.score}: ${addends}`);
    // an operator that has only just begun to lead has not weighed anything yet
    const score = await comesAbout(bed, level, 'the score as a metric', async () => {
      const operator = await operatorMetrics(bed);
      const labels = `kind="Deployment",workload="shop"`;
      return operator('svc_workload_protection_score', `namespace="${level}"`, labels);
    });
    report.check(`${level}: the metric is the report's`, score === workload.score, `${score}`);
  }
}

export async function reportOf({ kube }: NodeBed, namespace: string): Promise<ApiObject[]> {
  const path = `/apis/svc.io/v1alpha1/namespaces/${namespace}/protectionreports/svc`;
  const { json } = await kube.request('GET', path);
  return json?.status?.workloads ?? [];
}

export const pointsOf = (workload: ApiObject, name: string): number =>
  workload.addends.find((addend: ApiObject) => addend.name === name)?.points;

/** Entries of one of the pinned tables. */
async function table(bed: NodeBed, name: string): Promise<Entry[]> {
  const find = `find /sys/fs/bpf/svc -name ${name} | head -1`;
  return JSON.parse(await onNode(bed, `bpftool --json map dump pinned "$(${find})"`));
}

const idIn = (key: readonly string[]): string =>
  Buffer.from(key.map((byte) => Number(byte)))
    .readBigUInt64LE()
    .toString();

/** Ids of the cgroups of all pods on the node, by the UIDs of the pods. */
async function cgroupsOf(bed: NodeBed): Promise<ReadonlyMap<string, string>> {
  const text = await onNode(
    bed,
    "find /sys/fs/cgroup/kubepods.slice -type d -name '*-pod*.slice' -printf '%i %f\\n'",
  );
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => {
        const [, id = '', uid = ''] = /^(\d+) .*-pod(\S+)\.slice$/.exec(line) ?? [];
        return [uid.replaceAll('_', '-'), id];
      }),
  );
}

/** Those that run. */
async function labelledPods({ kube }: NodeBed): Promise<ApiObject[]> {
  const { items } = await kube.must('GET', '/api/v1/pods?labelSelector=svc%2Fprotected%3Dtrue');
  return items.filter(
    ({ status, metadata }: ApiObject) => status.phase === 'Running' && !metadata.deletionTimestamp,
  );
}

type Reading = (name: string, ...labels: string[]) => number | undefined;

export const agentMetrics = (bed: NodeBed): Promise<Reading> => metricsOf(bed, 'svc-ebpf', 9090);
export const operatorMetrics = (bed: NodeBed): Promise<Reading> => metricsOf(bed, 'svc-operator', 8080);

/** Of the first pod of a name that has an address, through the API server. */
async function metricsOf({ kube }: NodeBed, app: string, port: number): Promise<Reading> {
  const query = `labelSelector=${encodeURIComponent(`app.kubernetes.io/name=${app}`)}`;
  const { items } = await kube.must('GET', `${SYSTEM}?${query}`);
  const pod = items.find(({ metadata, status }: ApiObject) => status.podIP && !metadata.deletionTimestamp);
  const { status, text } = await kube.request('GET', `${SYSTEM}/${pod.metadata.name}:${port}/proxy/metrics`);
  if (status !== 200) throw new Error(`metrics of ${app}: ${status} ${text}`);
  return (name, ...labels) => {
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    const line = lines.find((one) => labels.every((label) => one.includes(label)));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
  };
}
