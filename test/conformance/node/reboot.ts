import { NODE_NAME } from '../../support/node/disk.ts';
import { attempted, targetOf } from './attacks.ts';
import { type ApiObject, comesAbout, type NodeBed, type NodeCheck, readyPods } from './bed.ts';
import { agentRecords } from './install.ts';
import { logRecords } from './logs.ts';
import { LEVELS } from './shop.ts';
import { figures } from './tables.ts';

/** kubelet, agent and pods come back, protected. */
export const reboot: NodeCheck = async (bed, report) => {
  const before = await bootIdOf(bed);
  const begun = Date.now();
  // the answer has to get out before the machine goes
  await bed.machine.run('(sleep 3; systemctl reboot) > /dev/null 2>&1 &');
  await comesAbout(bed, 'kube-system', 'another boot', async () => {
    const { bootId, ready } = await bootOf(bed);
    return bootId !== before && ready;
  });
  report.check('the node is back after its reboot', true);
  // what the API server says of others is from before
  const startedPods = (namespace: string, selector: string) =>
    readyPods(bed, namespace, selector, 1, (pod) => isStartedAfter(begun, pod));
  await startedPods('svc-system', 'app.kubernetes.io/name=svc-ebpf');
  await startedPods('svc-system', 'app.kubernetes.io/name=svc-operator');
  report.check('agent and operator are ready again', true);
  const attached = (await agentRecords(bed)).findLast(({ event }) => event === 'guard.attached');
  const guarded = Date.parse(`${attached?.time}`);
  for (const level of LEVELS) {
    const [pod] = await startedPods(level, 'app=shop');
    const target = await targetOf(bed, level, 'shop');
    report.check(`${level}: its environment is denied again`, !(await attempted(bed, target)));
    const records = await logRecords(bed, level, pod.metadata.name, '--container=shop');
    const started = Date.parse(`${records.findLast(({ event }) => event === 'application.started')?.time}`);
    const detail = `${((started - guarded) / 1000).toFixed(1)} s after it`;
    report.check(
      `${level}: its application started after the agent had attached`,
      started >= guarded,
      detail,
    );
  }
  await figures(bed, report);
};

const bootIdOf = async (bed: NodeBed): Promise<string> => (await bootOf(bed)).bootId;

async function bootOf({ kube }: NodeBed): Promise<{ readonly bootId: string; readonly ready: boolean }> {
  const { status } = await kube.must('GET', `/api/v1/nodes/${NODE_NAME}`);
  const ready = status.conditions.some((one: ApiObject) => one.type === 'Ready' && one.status === 'True');
  return { bootId: status.nodeInfo.bootID, ready };
}

/** @param since in milliseconds since 1970 */
const isStartedAfter = (since: number, { status }: ApiObject): boolean =>
  status.containerStatuses.every(({ state }: ApiObject) => Date.parse(state.running?.startedAt) > since);
