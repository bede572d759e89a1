import type { CertificatesOptions } from './certificates-options.ts';
import type { OperatorCertificates, ServerCertificate } from './contract.ts';
import { createKeeper, sharedSecretOf } from './create-keeper.ts';
import { createExpiry } from './expiry.ts';
import { followAuthority } from './follow-authority.ts';
import { followCertDir } from './follow-cert-dir.ts';
import { createPublished, type Published } from './published.ts';
import { type Rounds, startRounds } from './rounds.ts';
import { keepWebhookBundle } from './webhook-bundle.ts';

const pending = 'certificates';
const usualIntervalMs = 30_000;
const filesIntervalMs = 10_000;

/**
 * Makes or reads the operator's certificates, and keeps them, the agents' files and the webhook's `caBundle` current.
 * Resolves once there is something to serve with; where another replica leads, that one may have to make it first.
 * @throws SvcError (exit 78) when `certDir` cannot be used; the signal's reason when it is aborted before
 */
export async function startCertificates(options: CertificatesOptions): Promise<OperatorCertificates> {
  const { health, signal } = options;
  const published = createPublished();
  health.notReady(pending, 'There is no certificate to serve with yet.');
  const files = await startFiles(options, published);
  const closed = Promise.all([files?.closed, startAuthority(options, published)]).then(() => {});
  await Promise.race([published.complete, closed]);
  signal.throwIfAborted();
  health.ready(pending);
  const { current, clientAuthorities, onChange } = published;
  return { current, clientAuthorities, onChange, closed };
}

async function startFiles(options: CertificatesOptions, published: Published): Promise<Rounds | undefined> {
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
  const round = async () => {
    try {
      await keeper.round();
    } finally {
      if (published.bundle() !== undefined) expiry.look(published.current().cert, now());
    }
  };
  const keeping = startRounds({ event: 'certificates', intervalMs, round, log, signal });
  published.onChange(wake);
  const forget = leadership.onChange(wake);
  const following = followAuthority({
    ...{ client, namespace, name: sharedSecretOf(serviceName), log, signal },
    ...{ onCertificate: take, onChange: keeping.wake },
  });
  await Promise.all([webhook.closed, keeping.closed, following.closed]);
  forget();
}
