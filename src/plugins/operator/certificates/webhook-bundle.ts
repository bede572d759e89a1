import { isText, type KubeClient, member } from '../../../cluster/kube/client.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Health, Metrics } from '../../../runtime/health/health.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { repeatPass } from './repeat-pass.ts';

export interface WebhookBundleOptions {
  readonly client: KubeClient;
  /** Of the MutatingWebhookConfiguration. */
  readonly name: string;
  /** The PEM bundle to write; undefined while there is none. */
  readonly bundle: () => string | undefined;
  readonly leading: () => boolean;
  /** Called when a different bundle was found or written. */
  readonly onWritten: () => void;
  readonly intervalMs: number;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface WebhookBundle {
  /**
   * The PEM bundle that all webhooks had at the last successful read; undefined if there was none, or if another
   * replica leads.
   */
  written(): string | undefined;
  /** To be called when the bundle or the leader has changed. */
  wake(): void;
  readonly closed: Promise<void>;
}

/** Keeps `caBundle` of all webhooks of a configuration current while this replica leads. */
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
  const pass = async () => {
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
    ...repeatPass({ event: 'webhook.bundle', intervalMs, pass, log, signal }),
  };
}

export interface WebhookFacts {
  readonly count: number;
  /** Names of webhooks that admit pods unprotected while the operator is down. */
  readonly failOpen: readonly string[];
  /** JSON patch that writes the bundle where it is missing; empty if it is complete. */
  readonly patch: readonly object[];
}

/**
 * The contents of a MutatingWebhookConfiguration, and the required changes.
 * @param bundle PEM
 */
export function readWebhooks(configuration: unknown, bundle: string): WebhookFacts {
  const caBundle = Buffer.from(bundle).toString('base64');
  const listed = (configuration as { webhooks?: unknown } | null)?.webhooks;
  const webhooks: readonly unknown[] = Array.isArray(listed) ? listed : [];
  const changes = webhooks.flatMap((webhook, index) =>
    member(webhook, 'clientConfig')['caBundle'] === caBundle
      ? []
      : [{ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle }],
  );
  return {
    count: webhooks.length,
    failOpen: webhooks.filter(isFailOpen).map(nameOf),
    patch: changes.length === 0 ? [] : [unchangedSince(configuration), ...changes],
  };
}

/** The patch's indexes fit this version only: on another one the patch fails, and the next pass reads again. */
function unchangedSince(configuration: unknown): object {
  const { resourceVersion } = member(configuration, 'metadata');
  return { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion };
}

const isFailOpen = (webhook: unknown): boolean =>
  (webhook as { failurePolicy?: unknown } | null)?.failurePolicy === 'Ignore';

function nameOf(webhook: unknown): string {
  const name = (webhook as { name?: unknown } | null)?.name;
  return isText(name) ? name : 'without a name';
}

const written = 'webhook bundle';
const failurePolicy = 'webhook failure policy';

/** Reports problems of the webhook configuration: by metrics, in the log, and in the body of `/healthz`. */
export class WebhookState {
  readonly #health: Health;
  readonly #log: Logger;
  readonly #writtenGauge;
  readonly #failOpenGauge;
  #failOpen = '';

  constructor(metrics: Metrics, health: Health, log: Logger) {
    this.#health = health;
    this.#log = log;
    this.#writtenGauge = metrics.gauge(
      'svc_webhook_ca_bundle_written',
      '1 while the webhook configuration has the leader’s authorities; 0 on other replicas',
    );
    this.#failOpenGauge = metrics.gauge(
      'svc_webhook_fail_open',
      'Webhooks with failurePolicy Ignore, seen by the leader',
    );
    this.#writtenGauge.set(0);
    this.#failOpenGauge.set(0);
  }

  isWritten(): void {
    this.#writtenGauge.set(1);
    this.#health.recovered(written);
  }

  isNotWritten(reason: string): void {
    this.#writtenGauge.set(0);
    this.#health.degraded(written, reason);
  }

  failsOpen(names: readonly string[]): void {
    this.#failOpenGauge.set(names.length);
    const reason = `failurePolicy is Ignore: ${names.join(', ')}. Without the operator, pods start unprotected.`;
    if (names.length === 0) this.#health.recovered(failurePolicy);
    else this.#health.degraded(failurePolicy, reason);
    if (names.length > 0 && this.#failOpen !== reason)
      this.#log.error('webhook.fails.open', { webhooks: names });
    this.#failOpen = names.length > 0 ? reason : '';
  }

  /** Called when another replica leads and reports. */
  forget(): void {
    this.#writtenGauge.set(0);
    this.#failOpenGauge.set(0);
    this.#health.recovered(written);
    this.#health.recovered(failurePolicy);
    this.#failOpen = '';
  }
}
