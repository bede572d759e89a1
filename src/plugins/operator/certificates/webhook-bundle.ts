import { messageOf } from '../../../core/errors.ts';
import type { Health } from '../../../runtime/health/health.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { startRounds } from './rounds.ts';
import { readWebhooks } from './webhook-patch.ts';
import { WebhookState } from './webhook-state.ts';

export interface WebhookBundleOptions {
  readonly client: KubeClient;
  /** Of the MutatingWebhookConfiguration. */
  readonly name: string;
  /** PEM that belongs there; undefined while there is none. */
  readonly bundle: () => string | undefined;
  readonly leading: () => boolean;
  /** Called when another bundle than before has been found or put there. */
  readonly onWritten: () => void;
  readonly intervalMs: number;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface WebhookBundle {
  /** PEM that all webhooks had when the leader could look last; undefined where it never could, or does not lead. */
  written(): string | undefined;
  /** The bundle or the leader has changed. */
  wake(): void;
  readonly closed: Promise<void>;
}

/** Keeps `caBundle` of all webhooks of a configuration as it is to be, while this replica leads. */
export function keepWebhookBundle(options: WebhookBundleOptions): WebhookBundle {
  const { client, name, leading, intervalMs, metrics, health, log, signal } = options;
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${encodeURIComponent(name)}`;
  const state = new WebhookState(metrics, health, log);
  let written: string | undefined;

  const write = async (bundle: string) => {
    const { count, failOpen, patch } = readWebhooks(await client.request({ path, signal }), bundle);
    state.failsOpen(failOpen);
    if (count === 0) throw new Error(`The webhook configuration ${name} has no webhooks`);
    if (patch.length === 0 || !leading()) return;
    written = undefined;
    const contentType = 'application/json-patch+json';
    await client.request({ method: 'PATCH', path, contentType, body: patch, signal });
    log.info('webhook.bundle.written', { configuration: name, webhooks: patch.length - 1 });
  };
  const round = async () => {
    const bundle = options.bundle();
    const before = written;
    if (!leading() || bundle === undefined) {
      written = undefined;
      return state.forget();
    }
    try {
      await write(bundle);
    } catch (error) {
      state.isNotWritten(`The authorities are not in the webhook configuration: ${messageOf(error)}`);
      throw error;
    }
    if (!leading()) return;
    written = bundle;
    state.isWritten();
    if (before !== bundle) options.onWritten();
  };
  return {
    written: () => written,
    ...startRounds({ event: 'webhook.bundle', intervalMs, round, log, signal }),
  };
}
