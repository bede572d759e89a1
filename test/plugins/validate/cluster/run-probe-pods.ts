import type { Kubernetes } from '../../../support/kubernetes.ts';
import type { Stoppable } from '../../../support/types.ts';
import type { Kubelet } from '../../operator/path/kubelet/kubelet.ts';

/** Runs the pods of `svc validate --probe-pods` in a namespace on a node, and tells the API server how they ended. */
export function runProbePods(kube: Kubernetes, kubelet: Kubelet, namespace: string): Stoppable {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const selected = `${path}?labelSelector=app.kubernetes.io/name=svc-validate`;
  let stopped = false;
  const loop = (async () => {
    while (!stopped) {
      const { items } = await kube.must('GET', selected);
      for (const { metadata, spec } of items)
        if (spec.nodeName === undefined) await runToTheEnd(kube, kubelet, namespace, metadata.name);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    async stop() {
      stopped = true;
      await loop;
    },
  };
}

/** @returns the exit status of its program */
export async function runToTheEnd(
  kube: Kubernetes,
  kubelet: Kubelet,
  namespace: string,
  name: string,
): Promise<number | null> {
  const run = await kubelet.run(namespace, name);
  const { code: exitCode } = await run.container('probe').exited;
  await run.stop();
  const state = { terminated: { exitCode, reason: 'Completed' } };
  const container = { name: 'probe', ready: false, restartCount: 0, image: '', imageID: '', state };
  await kube.request('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, {
    status: { phase: exitCode === 0 ? 'Succeeded' : 'Failed', containerStatuses: [container] },
  });
  return exitCode;
}
