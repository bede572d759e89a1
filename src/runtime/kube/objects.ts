import { KubeError } from './errors.ts';

/** What every object has; the rest is its kind's own. */
export interface KubeObject {
  readonly metadata: ObjectMeta;
}

export interface ObjectMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
}

/** `namespace/name`, or the name alone where the kind has no namespaces. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** @throws KubeError KUBE_PROTOCOL unless it has a name, a UID and a version */
export function asObject<O extends KubeObject>(value: unknown): O {
  const { name, uid, resourceVersion } = member(value, 'metadata');
  if ([name, uid, resourceVersion].every(isText)) return value as O;
  throw new KubeError('KUBE_PROTOCOL', 'An object came without name, uid or resourceVersion');
}

/** A member that is an object itself; otherwise one without members. */
export function member(value: unknown, name: string): Readonly<Record<string, unknown>> {
  const found = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {};
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
