import { digestOf } from '../../plugins/operator/path/application.ts';
import { restrictedContainer, restrictedPod } from '../../plugins/operator/path/pods.ts';

export const USER = 'shop-user';
export const PASSWORD = 'correct-horse-battery-staple';
export const IMAGE = 'registry.example/shop:7';
export const ROLE = 'app';
/** A namespace for each level of Pod Security. */
export const LEVELS = ['restricted', 'baseline', 'privileged'] as const;
/** The namespace in which network policies are tried. */
export const GUARDED = 'guarded';
export type Level = (typeof LEVELS)[number];

export const asked: Readonly<Record<string, string>> = {
  'svc/inject': 'true',
  'svc/vault-role': ROLE,
  'svc/secret-paths': 'secret/shop/db',
};

/** Without the agent's socket, it waits until the agent has covered its pod. */
const untilCovered = { env: [{ name: 'SVC_REQUIRE_ENFORCEMENT', value: 'true' }] };

/** Those of the levels: what each admits, and no more. */
export const CONTEXTS: Readonly<Record<Level, { readonly pod: object; readonly container?: object }>> = {
  restricted: {
    pod: { securityContext: restrictedPod },
    container: { ...untilCovered, securityContext: restrictedContainer },
  },
  baseline: { pod: { securityContext: { runAsUser: 1000 } }, container: untilCovered },
  privileged: { pod: { securityContext: { runAsUser: 0 } } },
};

export interface Shop {
  readonly namespace: string;
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly replicas?: number;
  readonly pod?: object;
  readonly container?: object;
}

/** A Deployment as in docs/GETTING-STARTED.md, with probes. */
export function shop({ namespace, name, replicas = 1, ...options }: Shop): object {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace } },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: shopPod({ name, ...options }) },
  };
}

/** The template of its pods, for workloads of any kind. */
export function shopPod({
  name,
  annotations = asked,
  pod = {},
  container = {},
}: Omit<Shop, 'namespace'>): object {
  const probe = { periodSeconds: 15, timeoutSeconds: 14, failureThreshold: 8 };
  // a process of a container takes a second of an emulated processor
  const rare = { ...probe, periodSeconds: 60 };
  return {
    metadata: { labels: { app: name }, annotations },
    spec: {
      ...{ terminationGracePeriodSeconds: 5, ...pod },
      containers: [
        {
          ...{ name: 'shop', image: IMAGE, command: ['/usr/bin/shop'], args: ['--port', '8000'] },
          readinessProbe: { ...probe, httpGet: { path: '/', port: 8000 } },
          livenessProbe: { ...rare, exec: { command: ['cat', '/www/index.html'] } },
          ...container,
        },
      ],
    },
  };
}

/** What the shop says of its secrets. */
export const digests = (password = PASSWORD): string =>
  `user=${digestOf(USER)} password=${digestOf(password)}`;
