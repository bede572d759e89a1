/** How much a cluster has. */
export interface Size {
  readonly namespaces: number;
  readonly deployments: number;
  /** Pods of each Deployment. */
  readonly replicas: number;
  readonly serviceConfigs: number;
}

/** A collection, and what is to be created in it. */
export interface NewObject {
  readonly path: string;
  readonly body: object;
}

const vault = 'https://vault.example:8200';

export const namespaceOf = (index: number): string => `team-${index}`;
export const serviceConfigPath = (index: number, { namespaces }: Size): string =>
  `/apis/svc.io/v1alpha1/namespaces/${namespaceOf(index % namespaces)}/serviceconfigs`;
export const serviceConfigName = (index: number): string => `config-${index}`;

/** Selects the pods of the Deployment with the same index. */
export function newServiceConfig(index: number, size: Size): NewObject {
  const body = {
    ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata: { name: serviceConfigName(index) } },
    spec: {
      selector: { matchLabels: { app: `app-${index}` } },
      vault: { address: vault, role: `app-${index}` },
      secretPaths: [`secret/data/app-${index}/database`, `secret/data/app-${index}/api`],
      renewalInterval: '5m',
    },
  };
  return { path: serviceConfigPath(index, size), body };
}

/** A Deployment, its ReplicaSet or one of its pods, by the UID of what it belongs to. */
export function newDeployment(index: number, size: Size): NewObject {
  const namespace = namespaceOf(index % size.namespaces);
  return {
    path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
    body: { metadata: { name: `app-${index}` }, spec: workloadSpec(index, size) },
  };
}

export function newReplicaSet(index: number, size: Size, owner: string): NewObject {
  const namespace = namespaceOf(index % size.namespaces);
  return {
    path: `/apis/apps/v1/namespaces/${namespace}/replicasets`,
    body: {
      metadata: {
        name: replicaSetName(index),
        ownerReferences: [owned('Deployment', `app-${index}`, owner)],
      },
      spec: workloadSpec(index, size),
    },
  };
}

export function newPod(index: number, replica: number, size: Size, owner: string): NewObject {
  const namespace = namespaceOf(index % size.namespaces);
  const { metadata, spec } = template(index);
  const name = podName(index, replica);
  const ownerReferences = [owned('ReplicaSet', replicaSetName(index), owner)];
  const nodeName = `node-${(index * size.replicas + replica) % 100}`;
  return {
    path: `/api/v1/namespaces/${namespace}/pods`,
    body: { metadata: { ...metadata, name, ownerReferences }, spec: { ...spec, nodeName } },
  };
}

const replicaSetName = (index: number) => `app-${index}-5d8f7b9c44`;
const podName = (index: number, replica: number) => `${replicaSetName(index)}-${replica}`;

function owned(kind: string, name: string, uid: string): object {
  return { apiVersion: 'apps/v1', kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function workloadSpec(index: number, { replicas }: Size): object {
  return { replicas, selector: { matchLabels: { app: `app-${index}` } }, template: template(index) };
}

/** Every second one is as the webhook leaves it. */
function template(index: number) {
  const isProtected = index % 2 === 0;
  const labels = { app: `app-${index}`, version: 'v1', ...(isProtected && { 'svc/protected': 'true' }) };
  const annotations = { 'prometheus.io/scrape': 'true', 'checksum/config': 'a1b2c3d4'.repeat(8) };
  const containers = ['main', 'helper'].map((name) => container(name, index, isProtected));
  return {
    metadata: { labels, annotations },
    spec: { containers, volumes: [{ name: 'config', configMap: { name: `app-${index}`, optional: true } }] },
  };
}

function container(name: string, index: number, isProtected: boolean): object {
  const env = Array.from({ length: 15 }, (_, item) => ({
    name: `SETTING_${item}`,
    value: `value of setting ${item} of app ${index}`,
  }));
  return {
    name,
    image: `registry.example/team/app-${index}:1.4.${index}`,
    command: [isProtected ? '/svc/svc-wrapper' : `/usr/bin/${name}`],
    args: ['--listen=:8080', '--log-format=json'],
    env,
    ports: [{ containerPort: name === 'main' ? 8080 : 8090 }],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 10 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/app', readOnly: true }],
  };
}

/** As a kubelet tells it. */
export const runningStatus: object = {
  phase: 'Running',
  podIP: '10.1.2.3',
  podIPs: [{ ip: '10.1.2.3' }],
  conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
    ...{ type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
  })),
  containerStatuses: ['main', 'helper'].map((name) => ({
    ...{ name, ready: true, restartCount: 0, started: true, image: 'registry.example/app:1' },
    imageID: `registry.example/app@sha256:${'0123456789abcdef'.repeat(4)}`,
    containerID: `containerd://${'fedcba9876543210'.repeat(4)}`,
    state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
  })),
};
