import type { Kubernetes } from '../../../../support/kubernetes.ts';

/** A write of the operator that the API server has accepted. */
export interface Write {
  /** Which replica, by the identity of its token. */
  readonly by: string;
  /** Milliseconds since 1970, when the API server received it and when it had answered. */
  readonly received: number;
  readonly answered: number;
  /** Such as `patch serviceconfigs/status team/shop`. */
  readonly what: string;
  readonly isLease: boolean;
}

const account = 'system:serviceaccount:svc-system:svc-operator';
const credential = 'authentication.kubernetes.io/credential-id';

/** In the order in which they were received. */
export function writesOf(kubernetes: Kubernetes): Write[] {
  const lines = kubernetes
    .auditLog()
    .split('\n')
    .filter((line) => line.endsWith('}'));
  const events = lines.map((line) => JSON.parse(line));
  const accepted = events.filter(
    ({ user, responseStatus }) => user.username === account && responseStatus.code < 300,
  );
  return accepted.map(writeOf).sort((one, other) => one.received - other.received);
}

// biome-ignore lint/suspicious/noExplicitAny: events are picked apart freely
function writeOf({ user, verb, objectRef, requestReceivedTimestamp, stageTimestamp }: any): Write {
  const { resource, subresource, namespace = '', name = '' } = objectRef;
  return {
    by: user.extra[credential][0],
    received: Date.parse(requestReceivedTimestamp),
    answered: Date.parse(stageTimestamp),
    what: `${verb} ${[resource, subresource].filter(Boolean).join('/')} ${namespace}/${name}`,
    isLease: resource === 'leases',
  };
}

/** Writes that came after another replica had taken the lease. */
export function writesOfOthers(writes: readonly Write[]): Write[] {
  const taken = writes.filter(({ isLease }) => isLease).sort((one, other) => one.answered - other.answered);
  return writes.filter(({ isLease, by, received }) => {
    const holder = taken.findLast(({ answered }) => answered < received);
    return !isLease && holder !== undefined && holder.by !== by;
  });
}
