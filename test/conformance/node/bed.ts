import { CHART, type Helm } from '../../support/helm.ts';
import type { NodeCluster } from '../../support/node/cluster.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Report } from '../part.ts';

/** An emulated machine on a busy host takes minutes for what a node does in seconds. */
export const PATIENCE_MS = 1_800_000;

/** A cluster with one whole node, to which the chart comes and goes. */
export interface NodeBed extends NodeCluster {
  readonly helm: Helm;
  /** Path of the administrator's. */
  readonly kubeconfig: string;
}

export type NodeCheck = (bed: NodeBed, report: Report) => Promise<void>;

// biome-ignore lint/suspicious/noExplicitAny: objects of the API are picked apart freely
export type ApiObject = any;

/** Output of kubectl. @throws Error with what it says where it fails */
export async function kubectl({ kube }: NodeBed, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await kube.kubectl(args);
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** `helm upgrade` of the release, by which the values become others and its other values stay. @param set as `name=value` */
export const upgradeChart = ({ helm, kubeconfig }: NodeBed, set: string): ReturnType<Helm['run']> =>
  helm.run(
    [
      ...['upgrade', 'svc', CHART, '--namespace', 'svc-system', '--reset-then-reuse-values'],
      ...['--set', set],
    ],
    kubeconfig,
  );

/** Output of a script of root on the node. @throws Error with what it says where it fails */
export async function onNode({ machine }: NodeBed, script: string): Promise<string> {
  const { status, stdout, stderr } = await machine.run(script);
  if (status !== 0) throw new Error(`on the node: ${script}: ${status} ${stderr}`);
  return stdout;
}

/** Polls with a node's patience; the details are what the namespace's pods have come to. */
export async function comesAbout<T>(bed: NodeBed, namespace: string, what: string, check: () => Promise<T>) {
  let last = '';
  const details = () => last;
  const poll = async () => {
    try {
      return await check();
    } catch (error) {
      last = `${error}`;
      throw error;
    }
  };
  try {
    return await waitFor(what, poll, { timeoutMs: PATIENCE_MS, details });
  } catch (error) {
    throw new Error(`${what} did not come about: ${last}\n${await stateOf(bed, namespace)}`, {
      cause: error,
    });
  }
}

async function stateOf({ kube }: NodeBed, namespace: string): Promise<string> {
  const in_ = ['--namespace', namespace];
  const pods = await kube.kubectl(['get', 'pods', '--output=wide', ...in_]);
  const events = await kube.kubectl(['get', 'events', '--sort-by=.lastTimestamp', ...in_]);
  return `${pods.stdout}\n${events.stdout.split('\n').slice(-25).join('\n')}`;
}

/** The pods of a selector that are Ready, once there are `count`. @param counts default: all of them do */
export function readyPods(
  bed: NodeBed,
  namespace: string,
  selector: string,
  count = 1,
  counts: (pod: ApiObject) => boolean = () => true,
): Promise<ApiObject[]> {
  return comesAbout(bed, namespace, `${count} ready pods of ${selector}`, async () => {
    const pods = await podsOf(bed, namespace, selector);
    const ready = pods.filter((pod) => isPodReady(pod) && counts(pod));
    return ready.length >= count && ready;
  });
}

/** Waits until no pod of a selector is left, not even one that is ending. @param selector default: any pod */
export function podsGone(bed: NodeBed, namespace: string, selector = ''): Promise<boolean> {
  return comesAbout(bed, namespace, `the end of the pods of ${selector || namespace}`, async () => {
    return (await podsOf(bed, namespace, selector)).length === 0;
  });
}

async function podsOf({ kube }: NodeBed, namespace: string, selector: string): Promise<ApiObject[]> {
  const query = `labelSelector=${encodeURIComponent(selector)}`;
  return (await kube.must('GET', `/api/v1/namespaces/${namespace}/pods?${query}`)).items;
}

function isPodReady({ metadata, status }: ApiObject): boolean {
  const conditions: { type: string; status: string }[] = status.conditions ?? [];
  const ready = conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  return ready && metadata.deletionTimestamp === undefined;
}
