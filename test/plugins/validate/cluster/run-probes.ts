import type { Kubernetes } from '../../../support/kubernetes.ts';
import { runCommand } from '../../../support/run-command.ts';
import type { Stoppable } from '../../../support/types.ts';

interface Place {
  readonly address: string;
  readonly port: number;
}

interface ProbeSpec {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly containers: readonly { readonly command: readonly string[] }[] };
  readonly status: { readonly phase?: string };
}

/**
 * Runs the program of each probe of a namespace as a kubelet would, but against another place: the network of this
 * machine has no policies.
 */
export function runProbes(
  kube: Kubernetes,
  namespace: string,
  placeOf: (probe: { readonly covered: boolean }) => Place,
): Stoppable {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  let stopped = false;
  const run = async ({ metadata, spec }: ProbeSpec) => {
    const [, ...words] = spec.containers[0]?.command ?? [];
    const { address, port } = placeOf({ covered: metadata.labels['svc/protected'] === 'true' });
    const args = [...words.slice(0, -2), address, String(port)];
    const { status: exitCode } = await runCommand(process.execPath, args, '/');
    const terminated = { exitCode, reason: 'Completed' };
    await kube.request('PATCH', `${path}/${metadata.name}/status`, {
      status: {
        phase: 'Failed',
        containerStatuses: [
          { name: 'probe', ready: false, restartCount: 0, image: '', imageID: '', state: { terminated } },
        ],
      },
    });
  };
  const loop = (async () => {
    while (!stopped) {
      const { items } = await kube.must('GET', `${path}?labelSelector=app.kubernetes.io/name=svc-validate`);
      for (const pod of items as ProbeSpec[]) if (pod.status.phase === 'Pending') await run(pod);
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
