import { isDeepStrictEqual } from 'node:util';
import { applyStatus, type KubeClient } from '../../../cluster/kube/client.ts';
import { apiVersion, type Condition } from '../../../cluster/resources/resources.ts';
import { cut, cutMessages } from '../../../runtime/bounds/foreign-text.ts';
import type { FollowedKind } from '../cluster-view.ts';
import { type Controller, type ControllerDeps, commonOptions, runController } from './run-controller.ts';

/** A kind of custom resource, and how one object is evaluated. */
export interface StatusControllerOptions<T, Status> {
  /** Label `controller` of the metrics and the log. */
  readonly name: string;
  readonly kind: string;
  /** As in the kind's API paths. */
  readonly plural: string;
  readonly objects: FollowedKind<T>;
  /** @param before the object's current status */
  readonly judge: (
    object: T,
    before: Status,
  ) => { readonly status: Status; readonly errors: readonly string[] };
}

/** Maintains the status of each object of a kind, and reports errors in its spec by an event. */
export function startStatusController<Status extends object, T extends WithStatus<Status>>(
  deps: ControllerDeps,
  { name, kind, plural, objects, judge }: StatusControllerOptions<T, Status>,
): Controller {
  const own = createOwnStatus<Status, T>(deps.client, objects, kind, plural);
  return runController({
    ...commonOptions(deps),
    name,
    *keys() {
      for (const { key } of objects.values()) yield key;
    },
    async reconcile(key, signal) {
      const object = objects.get(key);
      if (object === undefined) return undefined;
      const { status, errors } = judge(object, own.of(object));
      reportErrors(deps, kind, object, errors);
      await own.write(object, status, signal);
      return undefined;
    },
  });
}

function reportErrors(
  { events }: ControllerDeps,
  kind: string,
  { namespace, name, uid }: WithStatus<object>,
  errors: readonly string[],
): void {
  if (errors.length === 0) return;
  events.record({
    regarding: { apiVersion, kind, namespace, name, uid },
    ...{ type: 'Warning', reason: 'SpecInvalid', action: 'Validate', note: joinedErrors(errors) },
  });
}

interface WithStatus<Status> {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly status: Status;
}

/** Statuses of one kind of custom resource, written only when they change. */
export interface OwnStatus<T, Status> {
  /** The last one written, which the watch may not have delivered yet. */
  of(object: T): Status;
  /** @throws KubeError */
  write(object: T, status: Status, signal: AbortSignal): Promise<void>;
}

/** @param plural as in the kind's API paths */
export function createOwnStatus<Status extends object, T extends WithStatus<Status>>(
  client: KubeClient,
  followed: FollowedKind<T>,
  kind: string,
  plural: string,
): OwnStatus<T, Status> {
  const written = new Map<string, { readonly uid: string; readonly status: Status }>();
  followed.onChange(({ key }) => void written.delete(key));
  const of = ({ key, uid, status }: T) => {
    const last = written.get(key);
    return last?.uid === uid ? last.status : status;
  };
  return {
    of,
    async write(object, status, signal) {
      if (isSameStatus(of(object), status)) return;
      const { key, namespace, name, uid } = object;
      const path = `/apis/${apiVersion}/namespaces/${namespace}/${plural}/${name}`;
      // with the UID, so that a new object of that name is not mistaken for this one
      const body = { apiVersion, kind, metadata: { name, namespace, uid }, status };
      await applyStatus(client, { path, object: body, signal });
      if (isCurrent(followed, object)) written.set(key, { uid, status });
    },
  };
}

/** Objects that were deleted or changed during the write are not remembered. */
function isCurrent<T extends { readonly key: string }>(followed: FollowedKind<T>, object: T): boolean {
  return followed.get(object.key) === object;
}

export type NewCondition = Omit<Condition, 'lastTransitionTime'>;

/** The condition `Valid` of a spec; `message` is used if there are no errors. */
export function validity(errors: readonly string[], message = 'Its spec has no errors.'): NewCondition {
  return errors.length === 0
    ? { type: 'Valid', status: 'True', reason: 'SpecValid', message }
    : { type: 'Valid', status: 'False', reason: 'SpecInvalid', message: joinedErrors(errors) };
}

/** The condition with the time of its last change: now, unless its status is as before. */
export function withTransition(
  condition: NewCondition,
  before: readonly Condition[] = [],
  now: string = new Date().toISOString(),
): Condition {
  const same = before.find(({ type, status }) => type === condition.type && status === condition.status);
  // metav1.Time has no fractions of a second
  const at = same?.lastTransitionTime ?? now.replace(/\.\d+Z$/, 'Z');
  return { ...condition, lastTransitionTime: at };
}

export const longestMessage = 4_096;

/** All errors in one message, as many as fit. */
export function joinedErrors(errors: readonly string[]): string {
  return cut(cutMessages(errors).join('; '), longestMessage - 1);
}

/** Whether two statuses are equal, regardless of the order of members and of undefined ones. */
export function isSameStatus(one: object, other: object): boolean {
  return isDeepStrictEqual(withoutUndefined(one), withoutUndefined(other));
}

function withoutUndefined(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}
