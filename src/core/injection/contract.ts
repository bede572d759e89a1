import type { ProxyRequest, ResourceDelivery, RotationMode } from '../custom-resources/resources.ts';
import type { EnvMapping } from '../env-map.ts';
import type { ImageMirrors } from '../image/reference.ts';
import type { Pod } from '../kubernetes/pod.ts';

/** The operator's defaults for annotations and ServiceConfigs. */
export interface InjectionDefaults {
  readonly vaultAddress: string | undefined;
  readonly wrapperImage: string;
  readonly proxyImage: string;
  /** Where these images may come from as well; unset: from nowhere else. */
  readonly imageMirrors?: ImageMirrors;
  readonly wrapperDelivery: WrapperDelivery;
  /** A config map of this name with `ca.crt` exists in each namespace of protected pods; undefined: no private CA. */
  readonly caConfigMap: string | undefined;
  /** Where the authorities of the object store are, in each such namespace; unset: the public ones count. */
  readonly storeAuthorities?: ConfigMapKey | undefined;
  /** The node agent's socket on the nodes, undefined where there is no agent. */
  readonly agentSocket: string | undefined;
  /** Of the tokens that pods show to the secrets server; unset: the API server's. */
  readonly tokenAudience?: string | undefined;
  /** Containers that run as root and name no seccomp profile get `RuntimeDefault`. */
  readonly seccompDefault: boolean;
  /** Lets pods skip the verification of certificates. */
  readonly development: boolean;
}

/** An item of a config map. */
export interface ConfigMapKey {
  readonly configMap: string;
  readonly key: string;
}

/** How the wrapper's folder reaches `/svc`: copied by an init container, as an image volume, or kept on the node. */
export type WrapperDelivery = 'copy' | 'image' | 'host';

/** A pod's complete request, with all defaults applied. */
export interface InjectionPlan {
  readonly vault: {
    readonly address: string;
    readonly role: string;
    readonly authMount: string | undefined;
    readonly skipVerify: boolean;
    /** Of the token that it is shown; unset: the API server's. */
    readonly tokenAudience?: string;
  };
  /** At least one; in this order they become SVC_SECRET_PATHS and SVC_ENV_MAP. */
  readonly secrets: readonly PlannedSecret[];
  /** No field is delivered but those that have a mapping. Default: false. */
  readonly envMapOnly?: boolean;
  readonly rotation: RotationMode | undefined;
  readonly renewalInterval: string | undefined;
  readonly delivery: ResourceDelivery | undefined;
  /** Undefined: all but known mesh sidecars. */
  readonly containers: readonly string[] | undefined;
  /** Entrypoint and arguments, instead of what the image says. */
  readonly command: readonly string[] | undefined;
  readonly proxy: ProxyRequest | undefined;
  /** Name of the ServiceConfig that was taken, for the log and the status. */
  readonly serviceConfig: string | undefined;
}

/** A KV path and its group of SVC_ENV_MAP, which may give one field to several variables. */
export interface PlannedSecret {
  readonly path: string;
  /** Empty: every field keeps its own name. */
  readonly mappings: readonly EnvMapping[];
}

/** `skip`: the pod asks for nothing; `deny`: its request cannot be met, with every error. */
export type Resolution =
  | { readonly kind: 'inject'; readonly plan: InjectionPlan }
  | { readonly kind: 'skip'; readonly reason: string }
  | { readonly kind: 'deny'; readonly errors: readonly string[] };

/** Levels of Pod Security, strictest last. */
export const podSecurityLevels = ['privileged', 'baseline', 'restricted'] as const;
export type PodSecurityLevel = (typeof podSecurityLevels)[number];

/** What an image runs when the pod does not say. */
export interface ImageCommand {
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  /** `USER` of the image: a number, a name, `user:group`, or empty for root. */
  readonly user: string;
}

/** What the mutation needs besides the pod and its plan. */
export interface MutationEnvironment {
  /** That its namespace enforces. */
  readonly podSecurity: PodSecurityLevel;
  /** Kubernetes 1.29 or later. */
  readonly nativeSidecars: boolean;
  /** By image reference as the pod writes it; one that is missing was not looked up. */
  readonly images: ReadonlyMap<string, ImageCommand>;
  /** Makes keys that nobody can guess, for the callers of one pod's proxy. */
  readonly newCallerKeys?: () => CallerKeys;
}

/** What callers of a proxy sign with. */
export interface CallerKeys {
  readonly id: string;
  readonly secret: string;
}

export type Mutation =
  | {
      readonly kind: 'pod';
      readonly pod: Pod /** Sentences for the person who applied it. */;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'deny'; readonly errors: readonly string[] };
