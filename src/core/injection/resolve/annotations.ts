import { deliveries, rotations } from '../../custom-resources/service-config.ts';
import { envMap } from '../../env-map/setting.ts';
import { boolean, duration, enumeration, list, type Parser } from '../../settings/parsers.ts';
import { httpUrl } from '../../settings/url.ts';
import { kvPaths } from '../../vault/kv-path.ts';
import { mountPath } from '../../vault/mount-path.ts';
import { roleName, transitKeyName } from '../../vault/names.ts';
import { asText, audience, command, containerName, objectName } from './parsers.ts';

/** One annotation of a pod: its name, what it is for, and how its value is read. */
export interface Annotation<T> extends Parser<T> {
  readonly name: string;
  /** For people, a phrase. */
  readonly description: string;
}

/** Every annotation of a pod that begins with it is ours. */
export const annotationPrefix = 'svc/';

/** All annotations that a pod may carry; there is no other `svc/…` one. */
export const annotations = {
  inject: {
    name: 'svc/inject',
    description: 'Asks for protection; "false" leaves the pod as it is, whatever else selects it',
    ...enumeration('true', 'false'),
  },
  vaultAddress: {
    name: 'svc/vault-address',
    description: 'URL of the secrets server',
    ...asText(httpUrl('https://vault.example:8200')),
  },
  vaultRole: {
    name: 'svc/vault-role',
    description: "Role of the secrets server that accepts the pod's service account",
    ...roleName(),
  },
  vaultAuthMount: {
    name: 'svc/vault-auth-mount',
    description: 'Where the kubernetes auth method is mounted, such as auth/kubernetes',
    ...mountPath('auth/'),
  },
  tokenAudience: {
    name: 'svc/token-audience',
    description:
      "Audience of the token that is shown to the secrets server, which then opens nothing at the API server; the role's own audience has to be the same",
    ...audience(),
  },
  secretPaths: {
    name: 'svc/secret-paths',
    description: 'KV paths, separated by commas; every field of each is delivered',
    ...kvPaths(),
  },
  envMap: {
    name: 'svc/env-map',
    description:
      'Names for fields: a group a path in the order of the paths, separated by ;, of <field>=<ENV_VAR> items with commas',
    ...envMap(),
    admitsEmpty: true,
  },
  envMapOnly: {
    name: 'svc/env-map-only',
    description: 'Delivers no field but those that svc/env-map, or a SecretMapping, names',
    ...boolean(),
  },
  secretMapping: {
    name: 'svc/secret-mapping',
    description: 'Names of SecretMappings of the namespace, separated by commas',
    ...list(objectName('SecretMapping')),
  },
  rotation: {
    name: 'svc/rotation',
    description: 'What to do when secrets change: restart the application, send it SIGHUP, or nothing',
    ...enumeration(...rotations),
  },
  renewalInterval: {
    name: 'svc/renewal-interval',
    description: 'How often the token is renewed and, under rotation, the secrets are looked at',
    ...asText(duration(1_000)),
  },
  delivery: {
    name: 'svc/delivery',
    description: 'Where the application finds the secrets: env, fd (a protected descriptor) or both',
    ...enumeration(...deliveries),
  },
  containers: {
    name: 'svc/containers',
    description: 'Names of the containers to protect, separated by commas; default: all but mesh sidecars',
    ...list(containerName()),
  },
  command: {
    name: 'svc/command',
    description: "Entrypoint and arguments as a JSON array, instead of looking up the image's own",
    ...command(),
  },
  s3Proxy: {
    name: 'svc/s3-proxy',
    description: 'Adds the S3 encryption proxy to the pod',
    ...boolean(),
  },
  proxyRole: {
    name: 'svc/proxy-role',
    description:
      'Role of the secrets server for the proxy, whose policy is its own; default: that of the pod',
    ...roleName(),
  },
  proxyUpstream: {
    name: 'svc/proxy-upstream',
    description: 'URL of the object store behind the proxy',
    ...asText(httpUrl('https://s3.example')),
  },
  proxyTransitKey: {
    name: 'svc/proxy-transit-key',
    description: 'Transit key that wraps the data keys of the proxy',
    ...transitKeyName(),
  },
  proxyCallerKeys: {
    name: 'svc/proxy-caller-keys',
    description: 'Makes keys for this pod alone, with which callers of its proxy have to sign',
    ...boolean(),
  },
} satisfies Readonly<Record<string, Annotation<unknown>>>;

export const annotationNames: readonly string[] = Object.values(annotations).map(({ name }) => name);
