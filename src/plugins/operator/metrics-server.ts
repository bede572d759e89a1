import type { ListenAddress } from '../../core/settings/listen-address.ts';
import type { ComponentDeps } from '../../runtime/component/contract.ts';
import { startHealthServer } from '../../runtime/health/health-server.ts';
import { untilAborted } from '../../runtime/lifecycle/until-aborted.ts';

export interface MetricsServer {
  /** Empty where it is turned off. */
  readonly address: string;
  readonly closed: Promise<void>;
}

/**
 * Serves `/metrics` apart from the probes, as Prometheus expects it.
 * @throws SvcError HEALTH_ADDRESS (exit 78) where the address cannot be had
 */
export async function startMetricsServer(
  at: ListenAddress | undefined,
  { health, metrics }: ComponentDeps,
  signal: AbortSignal,
): Promise<MetricsServer> {
  if (at === undefined) return { address: '', closed: Promise.resolve() };
  const { address, close } = await startHealthServer(at, {
    snapshot: health.snapshot,
    expose: metrics.expose,
  });
  return { address, closed: untilAborted(signal).then(close) };
}
