import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiObject, comesAbout, type NodeBed, type NodeCheck, upgradeChart } from './bed.ts';
import { asked, CONTEXTS, shopPod } from './shop.ts';

const NAMESPACE = 'restricted';
const DEPLOYMENT = '/apis/apps/v1/namespaces/svc-system/deployments/svc-operator';

/** From one replica to three and back by `helm upgrade`, while somebody asks for a pod every second. */
export const upgrade: NodeCheck = async (bed, report) => {
  const stream = startStream(bed);
  for (const replicas of [3, 1]) {
    const { status, stderr } = await upgradeChart(bed, `operator.replicaCount=${replicas}`);
    report.check(`helm upgrades to ${replicas} of the operator`, status === 0, stderr.trim());
    await comesAbout(bed, 'svc-system', `${replicas} of the operator`, async () => {
      const { status } = await bed.kube.must('GET', DEPLOYMENT);
      return status.readyReplicas === replicas && (status.replicas ?? 0) === replicas;
    });
  }
  const { admitted, unprotected, refused } = await stream.end();
  report.check(
    'no pod is refused meanwhile',
    refused.length === 0,
    `${admitted} admitted, ${refused.length} refused: ${refused[0] ?? ''}`,
  );
  report.check('and none is left without the wrapper', admitted > 0 && unprotected === 0, `${unprotected}`);
};

interface Admissions {
  admitted: number;
  unprotected: number;
  readonly refused: string[];
}

/** Pods are asked for as dry runs, which the webhook decides about like about others, and no kubelet starts. */
function startStream({ kube }: NodeBed): { end(): Promise<Admissions> } {
  const seen: Admissions = { admitted: 0, unprotected: 0, refused: [] };
  let ended = false;
  const ask = async (count: number) => {
    const { metadata, spec } = shopPod({
      name: 'asked-for',
      annotations: asked,
      ...CONTEXTS.restricted,
    }) as ApiObject;
    const pod = { metadata: { ...metadata, name: `asked-for-${count}` }, spec };
    const { status, json, text } = await kube.request(
      'POST',
      `/api/v1/namespaces/${NAMESPACE}/pods?dryRun=All`,
      pod,
    );
    if (status !== 201) return void seen.refused.push(text.slice(0, 300));
    seen.admitted += 1;
    if (json.spec.containers[0].command?.[0] !== '/svc/svc-wrapper') seen.unprotected += 1;
  };
  const run = async () => {
    const asking: Promise<void>[] = [];
    for (let count = 0; !ended; count++) {
      asking.push(ask(count));
      await sleep(1_000);
    }
    await Promise.all(asking);
  };
  const running = run();
  return {
    async end() {
      ended = true;
      await running;
      return seen;
    },
  };
}
