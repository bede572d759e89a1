import type { EnvelopeFormat } from '../envelope/manifest.ts';
import type { LabelSelector } from '../kubernetes/labels.ts';

/** Settings for the pods of a namespace that it selects; annotations of a pod override it, field by field. */
export interface ServiceConfigSpec {
  /** Pods of its namespace; an empty one selects them all. */
  readonly selector: LabelSelector;
  readonly vault?: VaultReference;
  /** KV paths, all fields of each. */
  readonly secretPaths?: readonly string[];
  /** Names for fields of these paths. */
  readonly envMap?: readonly SecretVariables[];
  /** Deliver no field but those that are named. */
  readonly envMapOnly?: boolean;
  /** Names of SecretMappings of its namespace. */
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

/** Which variables the fields of a secret are delivered as; a field that is not named keeps its own name. */
export interface SecretVariables {
  readonly path: string;
  /** Field of the secret to name of the variable. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface ProxyRequest {
  readonly enabled: boolean;
  /** Role at the secrets server with the proxy's own policy; unset: that of the pod. */
  readonly role?: string;
  /** URL of the object store. */
  readonly upstream?: string;
  /** Address blocks of an object store whose name resolves to changing addresses; only for pods with the proxy. */
  readonly storeCIDRs?: readonly string[];
  readonly transitKey?: string;
  /** Of the objects that it writes; unset: 1. */
  readonly format?: EnvelopeFormat;
  /** X25519 public keys (`age1…`, or 32 bytes in base64) to which each data key is sealed besides. */
  readonly recoveryRecipients?: readonly string[];
  /** Callers have to sign with keys that are made for each pod. */
  readonly callerKeys?: boolean;
  /**
   * Where the authorities of the object store are: `<ConfigMap>` of its namespace, with the key `ca.crt`, or
   * `<ConfigMap>/<key>`; empty: the public ones count, whatever the operator gives.
   */
  readonly storeCA?: string;
  /** Secret of its namespace with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for the proxy alone. */
  readonly credentialsSecret?: string;
}

/** A host or a block of addresses, one of the two. */
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
  /** Pods that it selects, and those of them that carry the wrapper. */
  readonly matchedPods?: number;
  readonly protectedPods?: number;
  readonly conditions?: readonly Condition[];
}

export const rotations = ['restart', 'sighup', 'none'] as const;
export const deliveries = ['both', 'env', 'fd'] as const;

export type RotationMode = (typeof rotations)[number];
export type ResourceDelivery = (typeof deliveries)[number];

/** KV paths and the variables that their fields become, under a name that several pods use. */
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

/** The group and version of all custom resources here. */
export const apiVersion = 'svc.io/v1alpha1';
