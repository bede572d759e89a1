/**
 * The fields of a pod that are read or changed here. Other members stay unchanged, because a pod is changed by copying
 * it as a whole.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
 */
export interface Pod {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: PodMetadata;
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface PodMetadata {
  /** Missing at admission if `generateName` generates it later. */
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  /** False: the pod has its own user namespace. */
  readonly hostUsers?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly os?: { readonly name?: string };
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: PodSecurityContext;
}

export interface PodSecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly fsGroup?: number;
  readonly seccompProfile?: { readonly type?: string };
}

/** An item of `containers`, `initContainers` or `ephemeralContainers`. */
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly EnvironmentVariable[];
  readonly envFrom?: readonly EnvironmentSource[];
  readonly ports?: readonly ContainerPort[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly resources?: Resources;
  readonly securityContext?: ContainerSecurityContext;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: { readonly postStart?: LifecycleHandler; readonly preStop?: LifecycleHandler };
  /** On an init container, `Always` makes it a native sidecar. */
  readonly restartPolicy?: string;
  readonly stdin?: boolean;
  readonly tty?: boolean;
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly apiVersion?: string; readonly fieldPath: string };
    readonly secretKeyRef?: { readonly name?: string; readonly key: string; readonly optional?: boolean };
    readonly configMapKeyRef?: { readonly name?: string; readonly key: string; readonly optional?: boolean };
    readonly resourceFieldRef?: object;
  };
}

export interface EnvironmentSource {
  readonly prefix?: string;
  readonly secretRef?: { readonly name?: string; readonly optional?: boolean };
  readonly configMapRef?: { readonly name?: string; readonly optional?: boolean };
}

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly protocol?: string;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly subPath?: string;
  readonly subPathExpr?: string;
}

/** The one member besides `name` determines the kind. */
export interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly configMap?: {
    readonly name?: string;
    readonly optional?: boolean;
    readonly items?: readonly object[];
  };
  readonly secret?: { readonly secretName?: string; readonly optional?: boolean };
  readonly image?: { readonly reference?: string; readonly pullPolicy?: string };
  readonly projected?: { readonly sources?: readonly ProjectedSource[]; readonly defaultMode?: number };
}

export interface ProjectedSource {
  readonly serviceAccountToken?: { readonly path?: string; readonly audience?: string };
}

export interface Resources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

export interface ContainerSecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly privileged?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type?: string };
}

export interface Probe extends LifecycleHandler {
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}

export interface LifecycleHandler {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: { readonly path?: string; readonly port: number | string; readonly host?: string };
  readonly tcpSocket?: { readonly port: number | string };
  readonly grpc?: { readonly port: number };
}

export interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
}
