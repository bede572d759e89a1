import type { EnvMapping } from '../../runtime/environment/env-map.ts';
import type { ImageMirrors } from '../images/reference.ts';
import type { Pod } from '../kube/pod.ts';
import type { ProxyRequest, ResourceDelivery, RotationMode } from '../resources/resources.ts';

/** The operator's defaults for annotations and ServiceConfigs. */
export interface InjectionDefaults {
  readonly vaultAddress: string | undefined;
  readonly wrapperImage: string;
  readonly proxyImage: string;
  /** Mirrors that may replace the registries of these images; unset: none. */
  readonly imageMirrors?: ImageMirrors;
  readonly wrapperDelivery: WrapperDelivery;
  /** Config map with `ca.crt` in each namespace with protected pods; undefined: no private CA. */
  readonly caConfigMap: string | undefined;
  /** Config map with the object store's CAs, in each such namespace; unset: public CAs. */
  readonly storeAuthorities?: ConfigMapKey | undefined;
  /** The node agent's socket on the nodes; undefined without an agent. */
  readonly agentSocket: string | undefined;
  /** Audience of the tokens that pods present to the secrets server; unset: the API server's. */
  readonly tokenAudience?: string | undefined;
  /** Every pod gets named fields only, and none may say otherwise. Default: false. */
  readonly envMapOnly?: boolean;
  /** Containers that run as root and name no seccomp profile get `RuntimeDefault`. */
  readonly seccompDefault: boolean;
  /** Allows pods to skip the verification of certificates. */
  readonly development: boolean;
}

/** An item of a config map. */
export interface ConfigMapKey {
  readonly configMap: string;
  readonly key: string;
}

/** How the wrapper's folder gets to `/svc`: copied by an init container, from an image volume, or from the node. */
export type WrapperDelivery = 'copy' | 'image' | 'host';

/** A pod's complete request, with all defaults applied. */
export interface InjectionPlan {
  readonly vault: {
    readonly address: string;
    readonly role: string;
    readonly authMount: string | undefined;
    readonly skipVerify: boolean;
    /** Audience of the token presented to the secrets server; unset: the API server's. */
    readonly tokenAudience?: string;
  };
  /** At least one; they become SVC_SECRET_PATHS and SVC_ENV_MAP in this order. */
  readonly secrets: readonly PlannedSecret[];
  /** Deliver only fields that have a mapping. Default: false. */
  readonly envMapOnly?: boolean;
  readonly rotation: RotationMode | undefined;
  readonly renewalInterval: string | undefined;
  readonly delivery: ResourceDelivery | undefined;
  /** Containers to wrap; undefined: all except known mesh sidecars. */
  readonly containers: readonly string[] | undefined;
  /** Entrypoint and arguments that replace the image's. */
  readonly command: readonly string[] | undefined;
  readonly proxy: ProxyRequest | undefined;
  /** Name of the ServiceConfig in effect, for the log and the status. */
  readonly serviceConfig: string | undefined;
}

/** A KV path and its group of SVC_ENV_MAP, which may map one field to several variables. */
export interface PlannedSecret {
  readonly path: string;
  /** Empty: every field keeps its own name. */
  readonly mappings: readonly EnvMapping[];
}

/** `skip`: the pod requests nothing; `deny`: its request cannot be met, with every error. */
export type Resolution =
  | { readonly kind: 'inject'; readonly plan: InjectionPlan }
  | { readonly kind: 'skip'; readonly reason: string }
  | { readonly kind: 'deny'; readonly errors: readonly string[] };

/** Levels of Pod Security, strictest last. */
export const podSecurityLevels = ['privileged', 'baseline', 'restricted'] as const;
export type PodSecurityLevel = (typeof podSecurityLevels)[number];

/** What an image runs if the pod does not specify a command. */
export interface ImageCommand {
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  /** `USER` of the image: a number, a name, `user:group`, or empty for root. */
  readonly user: string;
}

/** Facts that the mutation needs besides the pod and its plan. */
export interface MutationEnvironment {
  /** Level that the namespace enforces. */
  readonly podSecurity: PodSecurityLevel;
  /** Kubernetes 1.29 or later. */
  readonly nativeSidecars: boolean;
  /** By image reference as the pod writes it; missing images were not looked up. */
  readonly images: ReadonlyMap<string, ImageCommand>;
  /** Generates unguessable keys for the callers of one pod's proxy. */
  readonly newCallerKeys?: () => CallerKeys;
}

/** Keys that callers of a proxy sign with. */
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
