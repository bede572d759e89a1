import { managedByUs } from '../../../core/kubernetes/ownership.ts';
import type { EventRecorder } from '../../../runtime/kube/event-recorder.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { NamespaceState } from './namespace-state.ts';

interface Tellers {
  readonly log: Logger;
  readonly events: EventRecorder;
}

const nothing: NamespaceState = { applied: false, foreign: [], widening: [], warnings: [], unresolved: [] };

/** Tells what is new since before, in the log and, where it is for the namespace's people, as an event. */
export function tellChanges(
  namespace: string,
  before: NamespaceState = nothing,
  now: NamespaceState,
  tellers: Tellers,
): void {
  for (const name of added(before.foreign, now.foreign)) {
    const note = `NetworkPolicy ${name} is not the operator's and is left as it is, so that protected pods do not get the egress policy of svc: delete or rename it, or label it ${managedByUs}`;
    tellPolicy(namespace, name, 'egress.policy.foreign', 'ForeignPolicy', note, tellers);
  }
  for (const name of added(before.widening, now.widening)) {
    const note = `NetworkPolicy ${name} lets protected pods reach more than their egress policy does: narrow its podSelector or its rules`;
    tellPolicy(namespace, name, 'egress.policy.widened', 'EgressWidened', note, tellers);
  }
  for (const what of added(before.unresolved, now.unresolved)) {
    const note = `${what} has no address, so that the egress policy lets no protected pod reach it: correct its name, or look at DNS`;
    tellers.events.record({
      regarding: { apiVersion: 'v1', kind: 'Namespace', namespace, name: namespace },
      ...{ type: 'Warning', reason: 'NoAddress', action: 'Reconcile', note },
    });
  }
  for (const error of added(before.warnings, now.warnings)) {
    tellers.log.warn('egress.warning', { namespace, error });
  }
}

function added(before: readonly string[], now: readonly string[]): string[] {
  return now.filter((each) => !before.includes(each));
}

function tellPolicy(
  namespace: string,
  name: string,
  event: string,
  reason: string,
  note: string,
  { log, events }: Tellers,
): void {
  log.warn(event, { namespace, policy: name, error: note });
  events.record({
    regarding: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', namespace, name },
    ...{ type: 'Warning', reason, action: 'Reconcile', note },
  });
}
