import type {
  ImageCommand,
  InjectionDefaults,
  InjectionPlan,
  MutationEnvironment,
  PodSecurityLevel,
} from '../../../../../src/cluster/injection/contract.ts';
import type { Container, Pod, PodSpec } from '../../../../../src/cluster/kube/pod.ts';

/** One pod of the table. */
export interface PodCase {
  readonly name: string;
  readonly pod: Pod;
  readonly plan?: Partial<InjectionPlan>;
  readonly defaults?: Partial<InjectionDefaults>;
  /** Default: baseline. */
  readonly level?: PodSecurityLevel;
  readonly images?: Readonly<Record<string, ImageCommand>>;
  /** Default: true. */
  readonly nativeSidecars?: boolean;
  /** What each error has to contain, in their order; unset: the pod is changed. */
  readonly denied?: readonly RegExp[];
  /** What each warning has to contain; unset: any. */
  readonly warns?: readonly RegExp[];
  /** What a wrapped container runs once the kubelet has expanded it; by its name. */
  readonly runs?: Readonly<Record<string, readonly string[]>>;
  /** Variables of wrapped containers and of the proxy as they are in the pod; null: it is not there. */
  readonly variables?: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
  /** Whether a real API server cannot take it for a reason that has nothing to do with this. */
  readonly offline?: string;
}

export const plan: InjectionPlan = {
  vault: { address: 'https://vault.example:8200', role: 'app', authMount: undefined, skipVerify: false },
  secrets: [{ path: 'secret/app', mappings: [] }],
  rotation: undefined,
  renewalInterval: undefined,
  delivery: undefined,
  containers: undefined,
  command: undefined,
  proxy: undefined,
  serviceConfig: undefined,
};

export const defaults: InjectionDefaults = {
  vaultAddress: undefined,
  wrapperImage: 'registry.example/svc/wrapper:1.0.0',
  proxyImage: 'registry.example/svc/svc:1.0.0',
  wrapperDelivery: 'copy',
  caConfigMap: 'svc-ca',
  agentSocket: '/run/svc/agent.sock',
  seccompDefault: true,
  development: false,
};

export const surroundingsOf = (one: PodCase): MutationEnvironment => ({
  podSecurity: one.level ?? 'baseline',
  nativeSidecars: one.nativeSidecars ?? true,
  images: new Map(Object.entries(one.images ?? {})),
});

export const planOf = (one: PodCase): InjectionPlan => ({ ...plan, ...one.plan });
export const defaultsOf = (one: PodCase): InjectionDefaults => ({ ...defaults, ...one.defaults });

/** What satisfies the level `restricted`. */
export const restrictedContext = {
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

/** A container with a command, unless the members say otherwise. */
export const container = (members: Partial<Container> = {}): Container => ({
  name: 'app',
  image: 'registry.example/app:1',
  command: ['/bin/app'],
  ...members,
});

/** A container that leaves its command to its image. */
export function bare(members: Partial<Container> = {}): Container {
  const { command: _, ...rest } = container();
  return { ...rest, ...members };
}

export const pod = (spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'app', ...metadata },
  spec: { containers: [container()], ...spec },
});

export const image = (
  entrypoint: readonly string[],
  cmd: readonly string[] = [],
  user = '',
): ImageCommand => ({ entrypoint, cmd, user });

export const appImage = 'registry.example/app:1';
export const withToken = {
  volumeMounts: [
    { name: 'kube-api-access', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
  ],
} as const;
export const tokenVolume = {
  name: 'kube-api-access',
  projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3607 } }] },
} as const;
