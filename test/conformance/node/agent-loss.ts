import { comesAbout, type NodeCheck, readyPods } from './bed.ts';
import { operatorMetrics } from './tables.ts';

const DAEMON_SET = '/apis/apps/v1/namespaces/svc-system/daemonsets/svc-ebpf';
const SHOP = ['namespace="restricted"', 'workload="shop"'];

/** Without its agent a node's workloads count as not enforced within a minute, and as enforced again when it is back. */
export const agentLoss: NodeCheck = async (bed, report) => {
  const enforced = async () => (await operatorMetrics(bed))('svc_workload_enforced', ...SHOP);
  await comesAbout(bed, 'svc-system', 'enforcement', async () => (await enforced()) === 1);
  const placed = (nodeSelector: object | null) =>
    bed.kube.must('PATCH', DAEMON_SET, { spec: { template: { spec: { nodeSelector } } } });
  await placed({ 'no-such': 'node' });
  const selector = 'app.kubernetes.io/name=svc-ebpf';
  await comesAbout(bed, 'svc-system', 'the end of the agent', async () => {
    const { items } = await bed.kube.must(
      'GET',
      `/api/v1/namespaces/svc-system/pods?labelSelector=${encodeURIComponent(selector)}`,
    );
    return items.length === 0;
  });
  const begun = performance.now();
  await comesAbout(bed, 'svc-system', 'the loss in the metrics', async () => (await enforced()) === 0);
  const seconds = (performance.now() - begun) / 1000;
  report.check(
    'a lost agent shows in svc_workload_enforced within a minute',
    seconds < 60,
    `${seconds.toFixed(0)} s`,
  );
  await placed({ 'no-such': null } as object);
  await readyPods(bed, 'svc-system', selector);
  await comesAbout(bed, 'svc-system', 'enforcement again', async () => (await enforced()) === 1);
  report.check('and its return as well', true);
};
