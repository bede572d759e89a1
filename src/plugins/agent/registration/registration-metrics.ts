import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { Outcome } from './refusal.ts';

const secondsBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1];

/** Notes a registration that was answered, or given up by its caller. */
export type CountRegistration = (outcome: Outcome, seconds: number) => void;

export function registrationMetrics(metrics: Metrics): CountRegistration {
  const registrations = metrics.counter(
    'svc_agent_registrations_total',
    'Registrations answered, or given up by their callers',
    ['outcome'],
  );
  const seconds = metrics.histogram(
    'svc_agent_registration_seconds',
    'From the whole request of a registration to its end',
    secondsBuckets,
  );
  return (outcome, took) => {
    registrations.inc({ outcome });
    seconds.observe(took);
  };
}
