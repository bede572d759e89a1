import type { Container, Pod } from '../../../src/cluster/kube/pod.ts';
import type { PodProtection, WorkloadFacts } from '../../../src/cluster/score/contract.ts';

type Report = PodProtection['reports'][number];

/** As the webhook leaves it. */
export function wrappedContainer({ env = [], ...more }: Partial<Container> = {}): Container {
  return {
    name: 'app',
    image: 'shop:1',
    command: ['/svc/svc-wrapper'],
    env: [...env, { name: 'SVC_ORIGINAL_CMD', value: '/shop' }],
    volumeMounts: [{ name: 'svc-wrapper', mountPath: '/svc', readOnly: true }],
    ...more,
  };
}

export function protectedPod(containers: readonly Container[] = [wrappedContainer()], more = {}): Pod {
  return {
    metadata: { name: 'shop-1', namespace: 'shop', uid: 'u1', labels: { 'svc/protected': 'true' } },
    spec: { nodeName: 'node-1', volumes: [{ name: 'svc-wrapper', emptyDir: {} }], containers, ...more },
    status: { phase: 'Running' },
  };
}

export function plainPod(): Pod {
  return {
    metadata: { name: 'plain-1', namespace: 'shop', uid: 'u2' },
    spec: { containers: [{ name: 'app', image: 'shop:1' }] },
  };
}

export function bestReport(more: Partial<Report> = {}): Report {
  return {
    wrapperVersion: '0.1.0',
    wrapper: {
      ...{ lockMode: 'all', lockedBytes: 1, unlockedBytes: 0, swappedBytes: 0, lockLimit: undefined },
      ...{ coreLimit: 1, dumpable: false, ipcLock: true },
    },
    application: { pid: 2, lockedBytes: 0, swappedBytes: 0, coreLimit: 1, dumpable: false },
    secretMemory: { kind: 'memfd_secret', bytes: 100, locked: true, undumped: true },
    delivery: 'fd',
    ...more,
  };
}

export function bestProtection(more: Partial<PodProtection> = {}): PodProtection {
  return {
    pod: protectedPod(),
    agent: { tier: 1, enforcing: true, covered: true },
    reports: [bestReport()],
    ...more,
  };
}

export function factsOf(pods: readonly PodProtection[], more: Partial<WorkloadFacts> = {}): WorkloadFacts {
  return { kind: 'Deployment', namespace: 'shop', name: 'shop', pods, egressPolicy: true, ...more };
}
