import { kvPaths, mountPath, roleName, transitKeyName } from '../../../keyserver/path.ts';
import { parseBounded } from '../../../runtime/bounds/bounded-json.ts';
import { cut, messagesOn } from '../../../runtime/bounds/foreign-text.ts';
import { envMap } from '../../../runtime/environment/env-map.ts';
import { recipientTexts } from '../../../runtime/recovery-recipients/recipient-list.ts';
import { hint, wrongValue } from '../../../runtime/settings/resolve.ts';
import {
  boolean,
  duration,
  enumeration,
  httpUrl,
  invalidValue,
  list,
  matching,
  type Parser,
} from '../../../runtime/settings/setting.ts';
import type { Pod } from '../../kube/pod.ts';
import { deliveries, rotations } from '../../resources/resources.ts';

/** One annotation of a pod: its name, purpose and parser. */
export interface Annotation<T> extends Parser<T> {
  readonly name: string;
  /** A phrase for people. */
  readonly description: string;
}

/** Every pod annotation with this prefix is ours. */
const annotationPrefix = 'svc/';

/** All annotations that a pod may carry; any other `svc/…` annotation is an error. */
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
      'Audience of the token for the secrets server; the API server then rejects the token, and the role must name the same audience',
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
      'Variable names: <field>=<ENV_VAR> items separated by commas; one group per path, in the order of the paths, separated by ;',
    ...envMap(),
    admitsEmpty: true,
  },
  envMapOnly: {
    name: 'svc/env-map-only',
    description:
      'Delivers only the fields that svc/env-map or a SecretMapping names; false is refused under operator.envMapOnly',
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
    description: 'How often the token is renewed and, with rotation, the secrets are checked',
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
    description: 'Role of the proxy at the secrets server; default: that of the pod',
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
  proxyFormat: {
    name: 'svc/proxy-format',
    description: 'Format of written objects; 2: in segments, for cheap range reads',
    ...formatNumber(),
  },
  proxyRecoveryRecipient: {
    name: 'svc/proxy-recovery-recipient',
    description: 'X25519 public keys, separated by commas, to which the proxy also seals each data key',
    ...recipientTexts(),
  },
  proxyStoreCA: {
    name: 'svc/proxy-store-ca',
    description:
      'CA certificates of the object store, for the proxy; the key is ca.crt if left out; empty: the public CAs, even if the operator has others',
    ...configMapKey(),
  },
  proxyCallerKeys: {
    name: 'svc/proxy-caller-keys',
    description: 'Makes keys for this pod, with which callers of its proxy must sign',
    ...boolean(),
  },
} satisfies Readonly<Record<string, Annotation<unknown>>>;

export const annotationNames: readonly string[] = Object.values(annotations).map(({ name }) => name);

type Given = Readonly<Record<string, string>>;

/** A pod's annotations with our prefix, including unknown ones. */
export function givenAnnotations({ metadata }: Pod): Given {
  const all = Object.entries(metadata.annotations ?? {});
  return Object.fromEntries(all.filter(([name]) => isOurs(name)));
}

/** Kubernetes also accepts `SVC/inject`, which must not go unnoticed and leave the pod unprotected. */
export function isOurs(name: string): boolean {
  return name.slice(0, annotationPrefix.length).toLowerCase() === annotationPrefix;
}

/** Only `false` leaves a pod alone, whatever else it carries. */
export function optsOut(given: Given): boolean {
  return given[annotations.inject.name] === 'false';
}

/** Errors for unknown names, and for an invalid `svc/inject`, which is not a field of a plan. */
export function annotationErrors(given: Given): string[] {
  const unknown = Object.keys(given).filter((name) => !annotationNames.includes(name));
  return [
    ...messagesOn(unknown, (name) => `${cut(name)}: is not an annotation of svc${nearestOrAll(name)}`),
    ...injectErrors(given),
  ];
}

function nearestOrAll(name: string): string {
  return hint(name.toLowerCase(), annotationNames) || `; there are ${annotationNames.join(', ')}`;
}

function injectErrors(given: Given): readonly string[] {
  const { name } = annotations.inject;
  return Object.hasOwn(given, name)
    ? (readText(name, given[name] ?? '', annotations.inject).errors ?? [])
    : [];
}

/** Validates, but keeps the text, because a plan holds what goes into variables. */
function asText({ expects, parse }: Parser<unknown>): Parser<string> {
  return {
    expects,
    parse: (given) => {
      parse(given);
      return given;
    },
  };
}

/** A DNS label, as for container names. */
export function containerName(): Parser<string> {
  return matching(/^(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'the name of a container');
}

/** A DNS subdomain, as for most object names. */
export function objectName(kind: string): Parser<string> {
  const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
  return matching(new RegExp(`^(?=.{1,253}$)${label}(\\.${label})*$`), `the name of a ${kind}`);
}

/** A ConfigMap, optionally with a key in it, or nothing. */
function configMapKey(): Parser<string> {
  const { parse } = objectName('ConfigMap');
  const expects = 'the name of a ConfigMap, or <name>/<key>, or empty';
  return {
    expects,
    parse: (given) => {
      const [name = '', ...keys] = given.split('/');
      if (given !== '') parse(name);
      return keys.length < 2 && keys.every(isConfigMapKey) ? given : invalidValue(expects);
    },
  };
}

/** The key becomes a file name, so `..data` and the like are excluded. */
const isConfigMapKey = (key: string): boolean => /^(?!\.)[-.\w]{1,253}$/.test(key);

/** Audience of a token, such as a URL or a name. */
function audience(): Parser<string> {
  return matching(/^[\x21-\x7e]{1,253}$/, 'an audience such as https://vault.example, without blanks');
}

function formatNumber(): Parser<1 | 2> {
  const words = enumeration('1', '2');
  return { ...words, parse: (given) => (words.parse(given) === '2' ? 2 : 1) };
}

/** A JSON array of texts; the first is the program. */
function command(): Parser<readonly string[]> {
  const expects = 'a JSON array of texts such as ["/bin/app", "--port=80"], the first not empty';
  return {
    expects,
    parse: (given) => {
      const value = parsedJson(given);
      return isCommand(value) ? value : invalidValue(expects);
    },
  };
}

/** As many words as a container's own command line may have. */
function parsedJson(text: string): unknown {
  try {
    return parseBounded(text, { maxParts: 10_000, maxDepth: 1 });
  } catch {
    return undefined;
  }
}

/** NUL cannot be passed to a process. */
function isCommand(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value[0] === '') return false;
  return value.every((one) => typeof one === 'string' && !one.includes('\0'));
}

/** An item of a list in a custom resource that becomes an item of a comma-separated list. */
export function listed({ expects, parse }: Parser<string>): Parser<string> {
  return {
    expects: `${expects}, without commas and without blanks at its ends`,
    parse: (given) => (/,|^\s|\s$/.test(given) ? invalidValue(expects) : parse(given)),
  };
}

/** A value, or the errors that prevent it. */
export type Reading<T> =
  | { readonly value: T; readonly errors?: undefined }
  | { readonly errors: readonly string[] };

export function readText<T>(place: string, text: string, parser: Parser<T>): Reading<T> {
  try {
    return { value: parser.parse(text) };
  } catch (error) {
    return { errors: [wrongValue(parser, { place, text }, error)] };
  }
}

/** Reads each item separately; an error names its index. */
export function readItems<T>(
  place: string,
  texts: readonly string[],
  parser: Parser<T>,
): Reading<readonly T[]> {
  return together(texts.map((text, index) => readText(`${place}[${index}]`, text, parser)));
}

export function together<T>(readings: readonly Reading<T>[]): Reading<readonly T[]> {
  const errors = readings.flatMap((one) => one.errors ?? []);
  const values = readings.flatMap((one) => ('value' in one ? [one.value] : []));
  return errors.length > 0 ? { errors } : { value: values };
}
