import type { LabelSelector } from '../kube/labels.ts';

/** Settings for the selected pods of a namespace; a pod's annotations override single fields. */
export interface ServiceConfigSpec {
  /** Selects pods of the namespace; an empty selector selects all. */
  readonly selector: LabelSelector;
  readonly vault?: VaultReference;
  /** KV paths, all fields of each. */
  readonly secretPaths?: readonly string[];
  /** Variable names for fields of these paths. */
  readonly envMap?: readonly SecretVariables[];
  /** Deliver only fields that are named. */
  readonly envMapOnly?: boolean;
  /** Names of SecretMappings in the namespace. */
  readonly secretMappings?: readonly string[];
  readonly rotation?: RotationMode;
  /** Go duration. */
  readonly renewalInterval?: string;
  readonly delivery?: ResourceDelivery;
  /** Names of the containers to wrap; unset: all but known mesh sidecars. */
  readonly containers?: readonly string[];
  readonly proxy?: ProxyRequest;
  /** Further destinations that the egress policy allows. */
  readonly egress?: readonly EgressDestination[];
}

export interface VaultReference {
  readonly address?: string;
  readonly role?: string;
  /** Such as `auth/kubernetes`. */
  readonly authMount?: string;
  /** Audience of the token; unset: the operator's, or the API server's. */
  readonly tokenAudience?: string;
  /** Refused unless the operator runs in development mode. */
  readonly skipVerify?: boolean;
}

/** Variables that fields of a secret are delivered as; a field without entry keeps its own name. */
export interface SecretVariables {
  readonly path: string;
  /** Field name to variable name. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface ProxyRequest {
  readonly enabled: boolean;
  /** Role at the secrets server with the proxy's own policy; unset: the pod's. */
  readonly role?: string;
  /** URL of the object store. */
  readonly upstream?: string;
  /** Address blocks of an object store whose addresses change; only for pods with the proxy. */
  readonly storeCIDRs?: readonly string[];
  readonly transitKey?: string;
  /** Format of new objects; unset: 1. */
  readonly format?: 1 | 2;
  /** X25519 public keys (`age1…`, or 32 bytes in base64) that each data key is also sealed to. */
  readonly recoveryRecipients?: readonly string[];
  /** Callers must sign with keys generated for each pod. */
  readonly callerKeys?: boolean;
  /**
   * CAs of the object store: `<ConfigMap>` of the namespace, with the key `ca.crt`, or `<ConfigMap>/<key>`; empty: the
   * public CAs, whatever the operator's default.
   */
  readonly storeCA?: string;
  /** Secret of the namespace with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for the proxy only. */
  readonly credentialsSecret?: string;
}

/** Either a host or an address block. */
export interface EgressDestination {
  readonly host?: string;
  readonly cidr?: string;
  /** Default: 443. */
  readonly port?: number;
  /** Default: TCP. */
  readonly protocol?: 'TCP' | 'UDP';
}

export interface ServiceConfigStatus {
  readonly observedGeneration?: number;
  /** Number of selected pods, and of those that carry the wrapper. */
  readonly matchedPods?: number;
  readonly protectedPods?: number;
  readonly conditions?: readonly Condition[];
}

export const rotations = ['restart', 'sighup', 'none'] as const;
export const deliveries = ['both', 'env', 'fd'] as const;

export type RotationMode = (typeof rotations)[number];
export type ResourceDelivery = (typeof deliveries)[number];

/** KV paths and the variables for their fields, under a name that several pods can use. */
export interface SecretMappingSpec {
  readonly secrets: readonly SecretVariables[];
}

export interface SecretMappingStatus {
  readonly observedGeneration?: number;
  /** `ServiceConfig/<name>` and `Pod/<name>`, sorted, at most 50. */
  readonly usedBy?: readonly string[];
  readonly users?: number;
  readonly lastValidated?: string;
  readonly conditions?: readonly Condition[];
}

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/ (metav1.Condition) */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** One word in camel case, for programs. */
  readonly reason: string;
  /** A sentence, for people. */
  readonly message: string;
  /** When `status` last changed. */
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** Group and version of all custom resources. */
export const apiVersion = 'svc.io/v1alpha1';
