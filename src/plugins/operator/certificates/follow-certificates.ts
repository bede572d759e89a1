import type { X509Certificate } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient, KubeObject } from '../../../cluster/kube/client.ts';
import { type ReflectTiming, reflect } from '../../../cluster/kube/reflect.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { Health } from '../../../runtime/health/health.ts';
import { type Periodic, sleep } from '../../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import {
  bundleOf,
  certificatesIn,
  isIssuedBy,
  readCertificate,
  readIdentity,
  validityOf,
} from '../../../runtime/net/certificates.ts';
import { authoritiesOf, fromData, type StoredState, secretsPath, textsOf } from './authority-store.ts';
import { repeatPass } from './repeat-pass.ts';

export interface FollowOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Called with each certificate that can be served. */
  readonly onCertificate: (certificate: ServerCertificate) => void;
  /** Called with every change, including deletion of the Secret and unusable content. */
  readonly onChange: () => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly timing?: Partial<ReflectTiming>;
}

/** Follows the Secret that replicas share. Unusable content is logged, and the served certificate stays. */
export function followAuthority(options: FollowOptions): { readonly closed: Promise<void> } {
  const { client, namespace, name, log, signal, timing = {}, onChange } = options;
  const take = (stored: StoredState) => {
    try {
      options.onCertificate(servedBy(stored));
    } catch (error) {
      log.error('certificates.secret.unusable', { name: `${namespace}/${name}`, ...describeError(error) });
    }
    onChange();
  };
  return reflect<KubeObject, StoredState>({
    ...{ client, log, signal, timing, path: secretsPath(namespace), fieldSelector: `metadata.name=${name}` },
    project: stateOf,
    // without data, so that the certificate in use stays
    projectOutline: stateOf,
    ...{ onAdd: take, onChange: take, onDelete: onChange },
  });
}

/** Without the authority's key: followers never need it, and the leader reads it on demand. */
function stateOf(object: KubeObject): StoredState {
  const { authority, ...rest } = fromData(textsOf(object));
  return { ...rest, authority: authority && { cert: authority.cert, key: '' } };
}

/** @throws Error if the certificate cannot be read, or the bundle does not verify it */
export function servedBy(stored: StoredState): ServerCertificate {
  const { server } = stored;
  if (server === undefined) throw new Error('there is no server certificate in it');
  const leaf = readIdentity(server);
  const ca = authoritiesOf(stored);
  if (!certificatesIn(ca).some((pem) => isIssuedBy(leaf, readCertificate(pem))))
    throw new Error('its server certificate comes from none of its authorities');
  return { ...server, ca };
}

export interface FollowCertDirOptions extends CertDir {
  readonly onCertificate: (certificate: ServerCertificate) => void;
  readonly intervalMs: number;
  readonly health: Health;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const condition = 'certificate files';
/** Files that are being replaced may briefly not match. */
const secondLookMs = 1_000;

/**
 * Reads the folder at intervals, and as soon as something in it changes. Unusable files are logged, and the served
 * certificate stays.
 * @throws SvcError (exit 78) if the files cannot be used at the start
 */
export async function followCertDir(options: FollowCertDirOptions): Promise<Periodic> {
  const { folder, onCertificate, intervalMs, log, signal, health } = options;
  onCertificate(await readCertDir(options));
  let told = '';
  const pass = async () => {
    try {
      onCertificate(await readTwice(options));
      health.recovered(condition);
      told = '';
    } catch (error) {
      if (signal.aborted) return;
      const { error: reason, ...fields } = describeError(error);
      health.degraded(condition, `${reason}; the former certificate still serves`);
      if (told !== reason) log.error('certificates.files.unusable', { error: reason, ...fields });
      told = reason;
    }
  };
  const passes = repeatPass({ event: 'certificates.files', intervalMs, pass, log, signal });
  const watcher = watchFolder(folder, passes.wake);
  return { wake: passes.wake, closed: passes.closed.finally(() => watcher?.close()) };
}

async function readTwice(options: FollowCertDirOptions): Promise<ServerCertificate> {
  try {
    return await readCertDir(options);
  } catch {
    await sleep(secondLookMs, options.signal);
    return readCertDir(options);
  }
}

/** Undefined if the system has no watch left: the folder is still read at intervals. */
function watchFolder(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(folder, { persistent: false }, onChange).on('error', () => {});
  } catch {
    return undefined;
  }
}

interface CertDir {
  readonly folder: string;
  /** Name by which the API server calls the webhook. */
  readonly host: string;
  /** In milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * `tls.crt`, `tls.key` and optionally `ca.crt` of a folder; without `ca.crt` the last certificate of the chain counts
 * as the authority.
 * @throws SvcError (exit 78) with every error
 */
export async function readCertDir({ folder, host, now }: CertDir): Promise<ServerCertificate> {
  const unreadable: string[] = [];
  const read = (name: string, missing?: string) => text(folder, name, unreadable, missing);
  const [cert, key, ca] = await Promise.all([read('tls.crt'), read('tls.key'), read('ca.crt', '')]);
  if (unreadable.length > 0) throw unusable(folder, unreadable.sort());
  const served = { cert, key, ca: bundleOf(ca || (certificatesIn(cert).at(-1) ?? '')) };
  const errors = errorsIn(served, host, now());
  if (errors.length === 0) return served;
  throw unusable(folder, errors);
}

/**
 * @param unreadable gets an entry for each file that cannot be read
 * @param missing stands for a file that is missing
 */
async function text(folder: string, name: string, unreadable: string[], missing?: string): Promise<string> {
  try {
    return await readFile(join(folder, name), 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    if (missing !== undefined && code === 'ENOENT') return missing;
    unreadable.push(`${name} cannot be read (${code})`);
    return '';
  }
}

function errorsIn(served: ServerCertificate, host: string, now: number): string[] {
  try {
    const leaf = readIdentity(served);
    const chain = certificatesIn(served.cert).map(readCertificate);
    const authorities = certificatesIn(served.ca).map(readCertificate);
    return [
      ...(leaf.checkHost(host) === undefined ? [`tls.crt is not for ${host}`] : []),
      ...(isVerified(leaf, chain, authorities) ? [] : ['tls.crt is not verified by ca.crt or its own chain']),
      ...(now >= validityOf(leaf).to ? [`tls.crt expired at ${leaf.validTo}`] : []),
    ];
  } catch (error) {
    return [error instanceof Error ? error.message : 'unreadable'];
  }
}

/** Follows the chain from the leaf up to an authority; a self-signed certificate may be its own authority. */
function isVerified(
  leaf: X509Certificate,
  chain: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): boolean {
  const seen = new Set<string>();
  for (let current: X509Certificate | undefined = leaf; current; ) {
    const subject: X509Certificate = current;
    if (authorities.some((one) => isVouchedBy(subject, one))) return true;
    seen.add(subject.fingerprint256);
    current = chain.find((one) => !seen.has(one.fingerprint256) && one.ca && isIssuedBy(subject, one));
  }
  return false;
}

function isVouchedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return (
    (authority.ca || certificate.fingerprint256 === authority.fingerprint256) &&
    isIssuedBy(certificate, authority)
  );
}

function unusable(folder: string, details: readonly string[]): SvcError {
  return new SvcError(
    'CERT_DIR_UNUSABLE',
    `The certificate in ${folder} cannot be used: ${details.join('; ')}`,
    {
      nextStep: 'Put tls.crt with its chain, tls.key, and ca.crt of an authority that verifies it there.',
      exitStatus: exitStatus.config,
      details,
    },
  );
}

/** What the webhook and the node channel serve with. */
export interface ServerCertificate {
  /** PEM. */
  readonly key: string;
  /** PEM, followed by its chain. */
  readonly cert: string;
  /** PEM bundle that verifies the certificate: `caBundle` of the webhooks, `ca.crt` of the agents. */
  readonly ca: string;
}

/** The operator's certificates, which are replaced from time to time. */
export interface OperatorCertificates {
  /** The certificate in use now; keep it only together with a handler for changes. */
  current(): ServerCertificate;
  /** PEM bundle that verifies certificates of agents. */
  clientAuthorities(): string;
  /** Called after each change of either; it must not throw. */
  onChange(handle: () => void): void;
  /** Resolves once the signal was aborted and no work is in progress; never rejects. */
  readonly closed: Promise<void>;
}
