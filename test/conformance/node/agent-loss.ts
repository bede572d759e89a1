import { comesAbout, type NodeBed, type NodeCheck, podsGone, readyPods } from './bed.ts';
import { operatorMetrics } from './tables.ts';

const NAMESPACE = 'svc-system';
const DAEMON_SET = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets/svc-ebpf`;
const SELECTOR = 'app.kubernetes.io/name=svc-ebpf';
const SHOP = ['namespace="restricted"', 'workload="shop"'];

/** Without its agent a node's workloads count as not enforced within a minute, and as enforced again when it is back. */
export const agentLoss: NodeCheck = async (bed, report) => {
  const enforced = async () => (await operatorMetrics(bed))('svc_workload_enforced', ...SHOP);
  await comesAbout(bed, NAMESPACE, 'enforcement', async () => (await enforced()) === 1);
  const bringBack = await takeAgentAway(bed);
  const begun = performance.now();
  await comesAbout(bed, NAMESPACE, 'the loss in the metrics', async () => (await enforced()) === 0);
  const seconds = (performance.now() - begun) / 1000;
  report.check(
    'a lost agent shows in svc_workload_enforced within a minute',
    seconds < 60,
    `${seconds.toFixed(0)} s`,
  );
  await bringBack();
  await comesAbout(bed, NAMESPACE, 'enforcement again', async () => (await enforced()) === 1);
  report.check('and its return as well', true);
};

/**
 * Leaves no node to the agent.
 * @param further what its pods are to be besides
 * @returns what brings it back as it was
 */
export async function takeAgentAway(bed: NodeBed, further: object = {}): Promise<() => Promise<void>> {
  const { spec } = await bed.kube.must('GET', DAEMON_SET);
  const before = spec.template.spec;
  const make = (template: object) =>
    bed.kube.must('PATCH', DAEMON_SET, { spec: { template: { spec: template } } });
  await make({ ...further, nodeSelector: { 'no-such': 'node' } });
  await podsGone(bed, NAMESPACE, SELECTOR);
  return async () => {
    const changed = Object.keys(further).map((key) => [key, before[key] ?? null]);
    await make({ ...Object.fromEntries(changed), nodeSelector: { 'no-such': null } });
    await readyPods(bed, NAMESPACE, SELECTOR);
  };
}
