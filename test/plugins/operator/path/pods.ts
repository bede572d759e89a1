import type { Container, Pod, PodSpec } from '../../../../src/cluster/kube/pod.ts';
import type { HttpResult } from '../../../support/types.ts';
import type { PodRun } from './kubelet/kubelet.ts';
import { appImage, type World } from './world.ts';

/** What a person writes to have a pod protected. */
export const asked: Readonly<Record<string, string>> = {
  'svc/inject': 'true',
  'svc/vault-role': 'app',
  'svc/secret-paths': 'secret/app',
};

export const app = (members: Partial<Container> = {}): Container => ({
  ...{ name: 'app', image: appImage, command: ['/bin/app'] },
  ...members,
});

export interface PodText {
  readonly name: string;
  readonly namespace: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<PodSpec>;
}

/** Asks the API server to create the pod, and with it the webhook. */
export function post({ kube }: World, { namespace, spec, ...metadata }: PodText): Promise<HttpResult> {
  return kube.request('POST', `/api/v1/namespaces/${namespace}/pods`, {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { annotations: asked, ...metadata } },
    // a user, so that no registry is asked
    spec: { securityContext: { runAsUser: 1000 }, containers: [app()], restartPolicy: 'Never', ...spec },
  });
}

/** @throws Error where it is refused */
export async function create(world: World, text: PodText): Promise<Pod> {
  const { status, json, text: said } = await post(world, text);
  if (status !== 201) throw new Error(`${status} ${said}`);
  return json;
}

/** Creates it and has the node run it. */
export async function run(world: World, text: PodText): Promise<PodRun> {
  await create(world, text);
  return world.kubelet.run(text.namespace, text.name);
}

/** What the level restricted asks of a pod, with users other than root. */
export const restrictedPod = {
  ...{ runAsUser: 1000, runAsGroup: 2000, fsGroup: 3000, runAsNonRoot: true },
  seccompProfile: { type: 'RuntimeDefault' },
};

/** What it asks of a container, and a root that is read-only. */
export const restrictedContainer = {
  ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
  capabilities: { drop: ['ALL'] },
};
