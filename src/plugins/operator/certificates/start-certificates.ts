import type { KubeClient } from '../../../cluster/kube/client.ts';
import type { Leadership } from '../../../cluster/kube/lease.ts';
import type { Health, Metrics } from '../../../runtime/health/health.ts';
import type { Periodic } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { readCertificate, validityOf } from '../../../runtime/net/certificates.ts';
import { createSecretStore, createSharedStore } from './authority-store.ts';
import {
  followAuthority,
  followCertDir,
  type OperatorCertificates,
  type ServerCertificate,
} from './follow-certificates.ts';
import { CertificateKeeper, createCaPropagation, createSecretSlot } from './keeper.ts';
import { repeatPass } from './repeat-pass.ts';
import { type Lifetimes, usualLifetimes } from './verdict.ts';
import { keepWebhookBundle } from './webhook-bundle.ts';

const pending = 'certificates';
const usualIntervalMs = 30_000;
const filesIntervalMs = 10_000;

/**
 * Makes or reads the operator's certificates, and keeps them, the agents' files and the webhook's `caBundle` current.
 * Resolves once there is a certificate to serve with, which the leading replica may have to create first.
 * @throws SvcError (exit 78) if `certDir` cannot be used; the signal's reason if it is aborted first
 */
export async function startCertificates(options: CertificatesOptions): Promise<OperatorCertificates> {
  const { health, signal } = options;
  const published = createPublished();
  health.notReady(pending, 'There is no certificate to serve yet.');
  const files = await startFiles(options, published);
  const closed = Promise.all([files?.closed, startAuthority(options, published)]).then(() => {});
  await Promise.race([published.complete, closed]);
  signal.throwIfAborted();
  health.ready(pending);
  const { current, clientAuthorities, onChange } = published;
  return { current, clientAuthorities, onChange, closed };
}

async function startFiles(options: CertificatesOptions, published: Published): Promise<Periodic | undefined> {
  const { certDir: folder, namespace, serviceName, health, log, signal, now = Date.now } = options;
  if (folder === undefined) return undefined;
  return followCertDir({
    ...{ folder, host: `${serviceName}.${namespace}.svc`, now, health, log, signal },
    ...{ onCertificate: published.serve, intervalMs: filesIntervalMs },
  });
}

/** Resolves when everything has ended. */
async function startAuthority(options: CertificatesOptions, published: Published): Promise<void> {
  const { leadership, certDir, metrics, health, log, signal, now = Date.now } = options;
  const { client, namespace, serviceName, intervalMs = usualIntervalMs } = options;
  const leading = () => leadership.leading;
  const take = (certificate: ServerCertificate) => {
    if (certDir === undefined) published.serve(certificate);
    published.admit(certificate.ca);
  };
  const wake = () => {
    keeping.wake();
    webhook.wake();
  };
  const webhook = keepWebhookBundle({
    ...{ client, name: serviceName, leading, intervalMs, metrics, health, log, signal },
    ...{ bundle: published.bundle, onWritten: () => keeping.wake() },
  });
  const expiry = createExpiry(metrics, health, log);
  const keeper = createKeeper(options, { published, leading, written: webhook.written });
  const pass = async () => {
    try {
      await keeper.pass();
    } finally {
      if (published.bundle() !== undefined) expiry.look(published.current().cert, now());
    }
  };
  const keeping = repeatPass({ event: 'certificates', intervalMs, pass, log, signal });
  published.onChange(wake);
  const forget = leadership.onChange(wake);
  const following = followAuthority({
    ...{ client, namespace, name: sharedSecretOf(serviceName), log, signal },
    ...{ onCertificate: take, onChange: keeping.wake },
  });
  await Promise.all([webhook.closed, keeping.closed, following.closed]);
  forget();
}

/** Reports the expiry of the served certificate: by a metric, and by log and health when it is near. */
export interface Expiry {
  /** @param cert PEM @param now in milliseconds since 1970 */
  look(cert: string, now: number): void;
}

/** Automatic renewal replaces a certificate long before. */
const nearShare = 1 / 10;
const condition = 'certificate expiry';

export function createExpiry(metrics: Metrics, health: Health, log: Logger): Expiry {
  const gauge = metrics.gauge(
    'svc_certificate_not_after_seconds',
    'When the served certificate expires, in seconds since 1970',
  );
  let told = '';
  return {
    look(cert, now) {
      const { from, to } = validityOf(readCertificate(cert));
      gauge.set(to / 1_000);
      const reason = warningFor(from, to, now);
      if (reason === '') health.recovered(condition);
      else health.degraded(condition, reason);
      if (reason !== told && reason !== '') log.error('certificates.expiry', { reason });
      told = reason;
    },
  };
}

function warningFor(from: number, to: number, now: number): string {
  if (now >= to) return `The certificate expired at ${new Date(to).toISOString()}`;
  if (now < from) return `The certificate is not valid before ${new Date(from).toISOString()}`;
  return (to - now) / (to - from) < nearShare
    ? `The certificate expires at ${new Date(to).toISOString()}`
    : '';
}

/** The Secret that the agents of all nodes mount. */
const agentSecret = 'svc-agent-tls';

export interface KeeperEnvironment {
  readonly published: Published;
  readonly leading: () => boolean;
  /** PEM bundle with which the API server verifies the webhook. */
  readonly written: () => string | undefined;
}

function createKeeper(options: CertificatesOptions, environment: KeeperEnvironment): CertificateKeeper {
  const { client, namespace, serviceName, certDir, log, signal, now = Date.now } = options;
  const { published, leading, written } = environment;
  const secret = (name: string) => createSecretStore(client, namespace, name, signal);
  const lifetimes = { ...usualLifetimes, ...options.lifetimes };
  const isOwn = certDir === undefined;
  return new CertificateKeeper({
    ...{ lifetimes, now, leading, log, settling: createCaPropagation(lifetimes.settleMs) },
    store: createSharedStore(secret(sharedSecretOf(serviceName))),
    agents: secret(agentSecret),
    dnsNames: namesOf(serviceName, namespace),
    serverBundle: (authorities) => (isOwn ? authorities : (published.bundle() ?? authorities)),
    isWritten: (bundle) => !isOwn || written() === bundle,
  });
}

/** The Secret with the authority of all replicas. */
const sharedSecretOf = (serviceName: string): string => `${serviceName}-tls`;

/** The Service of the webhook, and the headless one whose addresses the agents try. */
function namesOf(serviceName: string, namespace: string): readonly string[] {
  const services = [serviceName, `${serviceName}-agents`];
  return services.flatMap((name) => [`${name}.${namespace}.svc`, `${name}.${namespace}`, name]);
}

export interface CertificatesOptions {
  readonly client: KubeClient;
  /** The operator's own, where its Secrets are. */
  readonly namespace: string;
  /** The operator's Service; also the name of the webhook configuration. Agents call `<service>-agents`. */
  readonly serviceName: string;
  readonly leadership: Leadership;
  /** Folder with `tls.crt`, `tls.key` and optionally `ca.crt` to serve instead. */
  readonly certDir?: string | undefined;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** In milliseconds since 1970; default: the clock. */
  readonly now?: () => number;
  readonly lifetimes?: Partial<Lifetimes>;
  /** About the time between two passes. Default: 30 s. */
  readonly intervalMs?: number;
}

/** The certificate served now; complete once both parts were read. */
interface Published {
  current(): ServerCertificate;
  /** PEM bundle that verifies the served certificate; undefined while there is none. */
  bundle(): string | undefined;
  clientAuthorities(): string;
  onChange(handle: () => void): void;
  serve(certificate: ServerCertificate): void;
  admit(clientAuthorities: string): void;
  readonly complete: Promise<void>;
}

function createPublished(): Published {
  const handlers: (() => void)[] = [];
  const complete = Promise.withResolvers<void>();
  let served: ServerCertificate | undefined;
  let authorities: string | undefined;
  const hideKey = createSecretSlot();
  const tell = () => {
    if (served === undefined || authorities === undefined) return;
    complete.resolve();
    for (const handle of handlers) handle();
  };
  return {
    current: () => present(served),
    bundle: () => served?.ca,
    clientAuthorities: () => present(authorities),
    onChange: (handle) => void handlers.push(handle),
    serve(certificate) {
      if (served !== undefined && isSame(served, certificate)) return;
      hideKey(certificate.key);
      served = certificate;
      tell();
    },
    admit(clientAuthorities) {
      if (authorities === clientAuthorities) return;
      authorities = clientAuthorities;
      tell();
    },
    complete: complete.promise,
  };
}

function isSame(one: ServerCertificate, other: ServerCertificate): boolean {
  return one.cert === other.cert && one.key === other.key && one.ca === other.ca;
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('certificates were asked for before they were there');
  return value;
}
