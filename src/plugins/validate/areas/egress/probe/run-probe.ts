import type { KubeObject } from '../../../../../runtime/kube/objects.ts';
import { sleep } from '../../../../../runtime/lifecycle/sleep.ts';
import { send } from '../../../cluster/read.ts';
import type { CheckContext } from '../../../contract.ts';
import { NotEvaluated } from '../../../not-evaluated.ts';
import { probePod, type Target } from './probe-pod.ts';
import { probeStatus } from './program.ts';

export type Probed = keyof typeof probeStatus;

type ProbeObject = KubeObject & {
  readonly status?: {
    readonly phase?: string;
    readonly containerStatuses?: readonly {
      readonly state?: {
        readonly terminated?: { readonly exitCode?: number };
        readonly waiting?: { readonly reason?: string };
      };
    }[];
  };
};

const pollMs = 500;
const removeMs = 10_000;

/**
 * Runs a pod in a namespace until it has tried its connection, and removes it, whatever came of it.
 * @throws NotEvaluated where it may not be created, or does not end
 */
export async function runProbe(
  context: CheckContext,
  namespace: string,
  given: { readonly image: string; readonly target: Target; readonly covered: boolean },
  signal: AbortSignal,
): Promise<Probed> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const body = probePod(given.image, given.target, given.covered);
  const pod = await send<ProbeObject>(context, { method: 'POST', path, body });
  const own = `${path}/${pod.metadata.name}`;
  try {
    return await ended(context, own, `${namespace}/${pod.metadata.name}`, signal);
  } finally {
    await remove(context, own);
  }
}

async function ended(context: CheckContext, path: string, key: string, signal: AbortSignal): Promise<Probed> {
  let state: NonNullable<NonNullable<ProbeObject['status']>['containerStatuses']>[number]['state'];
  while (!signal.aborted) {
    const { status } = await send<ProbeObject>(context, { path });
    state = status?.containerStatuses?.[0]?.state;
    const exitCode = state?.terminated?.exitCode;
    const known = Object.entries(probeStatus).find(([, code]) => code === exitCode);
    if (known !== undefined) return known[0] as Probed;
    if (exitCode !== undefined) throw new NotEvaluated(`The probe ${key} ended with ${exitCode}`);
    if (status?.phase === 'Failed') throw new NotEvaluated(`The probe ${key} was ended before it was done`);
    await sleep(pollMs, signal).catch(() => {});
  }
  throw new NotEvaluated(
    `The probe ${key} did not end in time (${state?.waiting?.reason ?? 'it was not started'})`,
  );
}

/** When the command is interrupted, too; a pod that stays ends by its deadline. */
async function remove(context: CheckContext, path: string): Promise<void> {
  const client = await context.cluster();
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
  await client.request({ method: 'DELETE', path, body, timeoutMs: removeMs }).catch(() => {});
}
