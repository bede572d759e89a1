import { type NodeBed, type NodeCheck, onNode, readyPods } from './bed.ts';
import { logRecords } from './logs.ts';
import { typePage } from './page.ts';

const NAMESPACE = 'svc-system';

/** As docs/INSTALL.md says, with the authority of the bed's servers, which is private here. */
export const installChart: NodeCheck = async (bed, report) => {
  await typePage(bed, report, 'install');
  await readyPods(bed, NAMESPACE, 'app.kubernetes.io/name=svc-operator');
  report.check('the operator gets ready', true);
  await readyPods(bed, NAMESPACE, 'app.kubernetes.io/name=svc-ebpf');
  report.check('the agent gets ready', true);
};

/** On tier 1, and with a reason that holds. */
export const agentTier: NodeCheck = async (bed, report) => {
  const records = await agentRecords(bed);
  const listening = records.find(({ event }) => event === 'listening');
  const attached = records.find(({ event }) => event === 'guard.attached');
  report.check(
    'the agent is on tier 1 and enforces',
    `${listening?.tier}` === '1',
    JSON.stringify(listening),
  );
  const because = JSON.stringify(attached);
  report.check('it knows that this kernel does not preempt', `${attached?.passable}` === 'false', because);
};

/** What the kernel has counted of each container of the chart. */
export const chartResources: NodeCheck = async (bed, report) => {
  for (const [name, mebibytes] of [
    ['svc-operator', 128],
    ['svc-ebpf', 512],
  ] as const) {
    const [pod] = await readyPods(bed, NAMESPACE, `app.kubernetes.io/name=${name}`);
    const folder = `/sys/fs/cgroup/kubepods.slice/*/*pod${pod.metadata.uid.replaceAll('-', '_')}.slice`;
    const text = await onNode(
      bed,
      `cd ${folder} && cat memory.peak memory.current && cat memory.events cpu.stat`,
    );
    const [peak = 0, current = 0] = text.split('\n').map(Number);
    const counter = (key: string) => Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1]);
    const figures = `peak ${inMebibytes(peak)}, now ${inMebibytes(current)}, ${(counter('usage_usec') / 1e6).toFixed(0)} s of CPU`;
    report.check(`${name} stays within its limit of ${mebibytes} MiB`, peak <= mebibytes * 2 ** 20, figures);
    report.check(`nothing of ${name} was killed for want of memory`, counter('oom_kill') === 0, figures);
    const [container] = pod.status.containerStatuses;
    report.check(
      `${name} never restarted`,
      container.restartCount === 0,
      JSON.stringify(container.lastState),
    );
  }
};

const inMebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

export const agentRecords = (bed: NodeBed) => logRecords(bed, NAMESPACE, 'daemonset/svc-ebpf');
