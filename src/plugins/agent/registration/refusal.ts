import { messageOf } from '../../../runtime/errors.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import type { GrpcStatus } from '../../../runtime/protocols/grpc.ts';

/** The outcome of a call, as in the metrics. */
export type RegistrationOutcome =
  | 'registered'
  | 'not_ready'
  | 'outside_namespace'
  | 'gone'
  | 'invalid_pod_uid'
  | 'wrong_pod'
  | 'traced'
  | 'opened_before'
  | 'not_registered'
  | 'full'
  | 'unsettled'
  | 'given_up'
  | 'failed';

/** A call answered with an error. The message goes to the caller and names the next step. */
export class RegistrationRefused extends Error {
  override readonly name = 'Refusal';
  readonly status: GrpcStatus;
  readonly outcome: RegistrationOutcome;

  constructor(outcome: Exclude<RegistrationOutcome, 'registered'>, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
    this.status = statuses[outcome];
  }
}

const statuses = {
  not_ready: 'UNAVAILABLE',
  outside_namespace: 'FAILED_PRECONDITION',
  gone: 'FAILED_PRECONDITION',
  invalid_pod_uid: 'INVALID_ARGUMENT',
  wrong_pod: 'PERMISSION_DENIED',
  traced: 'FAILED_PRECONDITION',
  opened_before: 'FAILED_PRECONDITION',
  not_registered: 'FAILED_PRECONDITION',
  full: 'RESOURCE_EXHAUSTED',
  unsettled: 'UNAVAILABLE',
  given_up: 'CANCELLED',
  failed: 'INTERNAL',
} as const satisfies Record<Exclude<RegistrationOutcome, 'registered'>, GrpcStatus>;

/** Translates any failure of a call into its answer. */
export function asRegistrationRefused(error: unknown): RegistrationRefused {
  if (error instanceof RegistrationRefused) return error;
  const code = (error as { code?: unknown } | undefined)?.code;
  if (code === 'PROCESS_GONE') return gone(error);
  if (code === 'GUARD_FULL') {
    return new RegistrationRefused(
      'full',
      'The agent has no room for another process; try again later.',
      error,
    );
  }
  if (code === 'GUARD_SHARE_FULL') {
    return new RegistrationRefused('full', `${messageOf(error)}; run fewer of them at a time.`, error);
  }
  if (code === 'PROTECTION_UNSETTLED') {
    return new RegistrationRefused('unsettled', `${messageOf(error)}; try again in a second.`, error);
  }
  return new RegistrationRefused(
    'failed',
    "The agent failed to protect the process: see the agent's log.",
    error,
  );
}

export function gone(cause?: unknown): RegistrationRefused {
  return new RegistrationRefused('gone', 'The process that connected has ended; connect again.', cause);
}

/** Ends a call that nobody waits for any more; seen in the log only. */
export function givenUp(): RegistrationRefused {
  return new RegistrationRefused('given_up', 'The caller did not wait for the answer.');
}

export function ending(): RegistrationRefused {
  return new RegistrationRefused('not_ready', 'The agent is ending; try again in a second.');
}

const secondsBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1];

/** Counts a registration that was answered, or given up by its caller. */
export type CountRegistration = (outcome: RegistrationOutcome, seconds: number) => void;

export function registrationMetrics(metrics: Metrics): CountRegistration {
  const registrations = metrics.counter(
    'svc_agent_registrations_total',
    'Registrations answered, or given up by their callers',
    ['outcome'],
  );
  const seconds = metrics.histogram(
    'svc_agent_registration_seconds',
    'From receipt of a registration request to its end',
    secondsBuckets,
  );
  return (outcome, took) => {
    registrations.inc({ outcome });
    seconds.observe(took);
  };
}
