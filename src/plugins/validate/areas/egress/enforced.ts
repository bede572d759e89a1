import type { KubeObject } from '../../../../cluster/kube/client.ts';
import { protectedLabel } from '../../../../cluster/kube/labels.ts';
import { sleep } from '../../../../runtime/lifecycle/wait.ts';
import {
  type CheckContext,
  type CheckResult,
  failed,
  NotEvaluated,
  notEvaluated,
  passed,
  skipped,
} from '../../check.ts';
import { operatorOf } from '../../cluster/operator.ts';
import { getObject, send } from '../../cluster/read.ts';
import { clusterCheck } from '../../make-check.ts';
import { egressOf } from './policies.ts';

export const enforced = clusterCheck('SVC-EGRESS-004', 'error', {
  timeoutMs: 180_000,
  undoMs: 12_000,
  title: 'A protected pod cannot connect to what its policy does not allow (measured with --probe-pods)',
  cause:
    'No network plugin enforces the policy. Two pods with the image of the proxy request the metrics of the operator, one under the policy and one not. They are removed afterwards.',
  fix: 'Install or enable a network plugin that enforces network policies, then check SVC-EGRESS-001 and SVC-EGRESS-002.',
  async run(context, signal) {
    if (!context.config.probePods) return skipped('It needs pods of its own, which --probe-pods allows');
    const [operator, all] = await Promise.all([operatorOf(context), egressOf(context)]);
    const place = all.find(({ pods }) => pods.length > 0) ?? all[0];
    const image = operator?.env['SVC_PROXY_IMAGE'];
    if (place === undefined || image === undefined)
      return skipped('There is no operator, or no namespace with protected pods');
    const target = await findTarget(context);
    if (target === undefined) return notEvaluated('The Service svc-operator-metrics has no address to try');
    return measure(context, place.namespace, { image, target }, signal);
  },
});

/** A target that every pod can reach without an egress policy: the operator's metrics are open to all namespaces. */
async function findTarget(context: CheckContext): Promise<ProbeTarget | undefined> {
  const path = `/api/v1/namespaces/${context.config.operatorNamespace}/services/svc-operator-metrics`;
  const service = await getObject<{ readonly spec?: { readonly clusterIP?: string } }>(context, path);
  const { clusterIP = 'None' } = service?.spec ?? {};
  return clusterIP === 'None' ? undefined : { host: clusterIP, port: 8080 };
}

async function measure(
  context: CheckContext,
  namespace: string,
  given: { readonly image: string; readonly target: ProbeTarget },
  signal: AbortSignal,
): Promise<CheckResult> {
  const free = await runProbe(context, namespace, { ...given, covered: false }, signal);
  if (free === 'silent')
    return notEvaluated(
      `A pod of ${namespace} that is under no policy of svc does not reach ${given.target.host} either`,
    );
  const covered = await runProbe(context, namespace, { ...given, covered: true }, signal);
  if (covered === 'silent') return passed(namespace);
  const { host, port } = given.target;
  return failed({
    subject: namespace,
    message: `A protected pod reaches ${host} on port ${port}, which is not allowed to it.`,
  });
}

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
 * Runs a pod in a namespace until it has tried its connection, and always removes it.
 * @throws NotEvaluated if the pod may not be created, or does not end
 */
async function runProbe(
  context: CheckContext,
  namespace: string,
  given: { readonly image: string; readonly target: ProbeTarget; readonly covered: boolean },
  signal: AbortSignal,
): Promise<Probed> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const body = probePod(given.image, given.target, given.covered);
  const pod = await send<ProbeObject>(context, { method: 'POST', path, body });
  const own = `${path}/${pod.metadata.name}`;
  try {
    return await waitForEnd(context, own, `${namespace}/${pod.metadata.name}`, signal);
  } finally {
    await remove(context, own);
  }
}

async function waitForEnd(
  context: CheckContext,
  path: string,
  key: string,
  signal: AbortSignal,
): Promise<Probed> {
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

/** Runs even if the command is interrupted; a pod that cannot be removed ends by its deadline. */
async function remove(context: CheckContext, path: string): Promise<void> {
  const client = await context.cluster();
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
  await client.request({ method: 'DELETE', path, body, timeoutMs: removeMs }).catch(() => {});
}

export interface ProbeTarget {
  readonly host: string;
  readonly port: number;
}

/**
 * A pod that tries one connection.
 * @param covered whether to label it as a protected pod, which puts it under the egress policy; the webhook ignores it
 */
export function probePod(image: string, { host, port }: ProbeTarget, covered: boolean): object {
  const labels = { 'app.kubernetes.io/name': 'svc-validate', ...(covered && { [protectedLabel]: 'true' }) };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'svc-validate-', labels, annotations: { 'svc/inject': 'false' } },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: 120,
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      containers: [
        {
          name: 'probe',
          image,
          command: ['node', '-e', probeProgram, host, String(port)],
          resources: { requests: modest, limits: modest },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  };
}

const modest = { cpu: '100m', memory: '128Mi' };

/** Exit statuses of the program. */
export const probeStatus = { reached: 10, refused: 11, silent: 12 } as const;

/**
 * For `node -e`: connects to the host and port in its arguments; the exit status tells the result. A refused connection
 * has reached its target as well.
 */
export const probeProgram = `
const [host, port] = process.argv.slice(1);
const socket = require('node:net').connect({ host, port: Number(port) });
socket.setTimeout(5000);
socket.once('connect', () => process.exit(${probeStatus.reached}));
socket.once('timeout', () => process.exit(${probeStatus.silent}));
socket.once('error', ({ code }) => process.exit(code === 'ECONNREFUSED' ? ${probeStatus.refused} : ${probeStatus.silent}));
`.trim();
