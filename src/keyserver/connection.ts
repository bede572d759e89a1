import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { svcVersion } from '../runtime/component/package-folder.ts';
import { exitStatus, SvcError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import { tlsClientLimits } from '../runtime/net/tls-limits.ts';
import { certificateFiles } from './certificate-files.ts';
import type { VaultEndpoint, VaultPlace } from './settings.ts';

/** PEM files, each read again when it has changed. */
export type TlsFiles = Pick<VaultEndpoint, 'caFiles' | 'caPath' | 'client'>;

/** Address of the key server, and how to connect to it. */
export interface VaultConnectionSettings {
  /** `https://host:port`, with a path if a gateway adds one. */
  readonly address: URL;
  readonly namespace: string | undefined;
  /** Firewalls refuse requests without one, and audit logs show it. */
  readonly userAgent: string;
  /** CAs given here replace the built-in roots, as in Vault's own clients. */
  readonly tls: TlsFiles;
  /** Told which certificates were skipped, because they cannot be read. */
  readonly onSkipped?: ((where: string) => void) | undefined;
  /** Development only: accepts any certificate. */
  readonly skipVerify: boolean;
  /** Whether to follow a standby's 307 to the active server. */
  readonly followStandby: boolean;
  /** Milliseconds until TCP and TLS are established. */
  readonly connectTimeoutMs: number;
  /** Milliseconds for one whole exchange. */
  readonly requestTimeoutMs: number;
  /** Maximum bytes of one response. */
  readonly maxAnswerBytes: number;
  /** Maximum number of connections. */
  readonly maxSockets: number;
}

export const connectionDefaults = {
  connectTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  maxAnswerBytes: 8 * 1024 * 1024,
  maxSockets: 64,
} as const satisfies Partial<VaultConnectionSettings>;

/**
 * A client certificate is meant for the named server or broker, so with one no redirect is followed.
 * @param component such as `proxy`
 */
export function vaultConnection(
  { endpoint, namespace }: VaultPlace,
  component: string,
): VaultConnectionSettings {
  const { url, skipVerify, caFiles, caPath, client } = endpoint;
  return {
    ...connectionDefaults,
    address: url,
    namespace,
    userAgent: `svc-${component}/${svcVersion()}`,
    skipVerify,
    tls: { caFiles, caPath, client },
    followStandby: client === undefined,
  };
}

/** For the log of a component. */
export const tellSkipped =
  (log: Pick<Logger, 'warn'>): Skipped =>
  (where) =>
    log.warn('vault.tls.skipped', { where, remark: 'it cannot be read; the others are trusted' });

/** Undefined without TLS. @throws SvcError (exit 78) for unusable TLS files */
export const tlsFor = ({ address, tls, onSkipped }: VaultConnectionSettings): TlsContext | undefined =>
  address.protocol === 'https:' ? new TlsContext(tls, onSkipped) : undefined;

/** Prefix of every path: `/v1/`, below a gateway's path if there is one. */
export const apiPrefix = ({ address }: VaultConnectionSettings): string =>
  `${address.pathname.replace(/\/+$/, '')}/v1/`;

/** Headers of every request except the token, which the caller adds as text or bytes. */
export function apiHeaders(
  { namespace, userAgent }: VaultConnectionSettings,
  hasBody: boolean,
): [string, string][] {
  return [
    ['User-Agent', userAgent],
    ['Accept', 'application/json'],
    ['X-Vault-Request', 'true'],
    ...(namespace === undefined ? [] : ([['X-Vault-Namespace', namespace]] satisfies [string, string][])),
    ...(hasBody ? ([['Content-Type', 'application/json']] satisfies [string, string][]) : []),
  ];
}

/** Certificates and keys from files, checked before each new connection and read again when they have changed. */
export class TlsContext {
  #files: TlsFiles;
  readonly #onSkipped: Skipped;
  #fingerprint = '';
  #authorities: Authorities;
  #context: SecureContext;

  /** @throws SvcError (exit 78) for an unusable file */
  constructor(files: TlsFiles, onSkipped: Skipped = () => undefined) {
    this.#files = files;
    this.#onSkipped = onSkipped;
    [this.#authorities, this.#context] = usable(files, () => {
      this.#fingerprint = fingerprint(files);
      const trusted = authorities(files, onSkipped);
      return [trusted, load(files, trusted)] as const;
    });
  }

  /** For files that others than their owner could write: from now on only the client certificate is read again. */
  keepAuthorities(): void {
    this.#files = { ...this.#files, caFiles: [], caPath: undefined };
  }

  /** Keeps the former certificates while new ones are incomplete or do not match. */
  current(): SecureContext {
    try {
      const seen = fingerprint(this.#files);
      if (seen !== this.#fingerprint) {
        const trusted = { ...this.#authorities, ...authorities(this.#files, this.#onSkipped) };
        this.#context = load(this.#files, trusted);
        this.#authorities = trusted;
        this.#fingerprint = seen;
      }
    } catch {
      return this.#context;
    }
    return this.#context;
  }
}

/** SSL_OP_CLEANSE_PLAINTEXT, which Node does not define: OpenSSL zeroes its copy of data that it has handed over. */
const secureOptions = 2;

interface Authorities {
  readonly ca?: string[];
}

function load(files: TlsFiles, trusted: Authorities): SecureContext {
  const trust = { ...trusted, ...clientIdentity(files) };
  // an intermediate CA or the server's own certificate is an anchor like any other, as in OpenBao's own client
  return createSecureContext({
    ...tlsClientLimits,
    secureOptions,
    allowPartialTrustChain: true,
    ...trust,
  });
}

function usable<T>(files: TlsFiles, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    const names = [...files.caFiles, files.caPath, files.client?.certFile, files.client?.keyFile];
    const given = names.filter((name) => name !== undefined).join(', ');
    throw new SvcError('VAULT_TLS_FILES', `The TLS files for the key server cannot be used (${given})`, {
      nextStep: 'Give PEM files that exist, and a client key that matches its certificate.',
      exitStatus: exitStatus.config,
      cause,
    });
  }
}

function authorities(files: Pick<TlsFiles, 'caFiles' | 'caPath'>, onSkipped: Skipped): Authorities {
  const { caFiles, caPath } = files;
  const ca = caFiles.flatMap((file) => readable(file, certificatesOf(file, onSkipped)));
  const folder = caPath === undefined ? [] : certificateFiles(caPath);
  const inFolder = folder.flatMap((file) => certificatesOf(file, onSkipped));
  if (caPath !== undefined) readable(caPath, inFolder);
  ca.push(...inFolder);
  return ca.length === 0 ? {} : { ca };
}

function readable(place: string, certificates: string[]): string[] {
  if (certificates.length === 0) throw new Error(`no certificate in ${place}`);
  return certificates;
}

function clientIdentity({ client }: TlsFiles): { cert?: string; key?: Buffer } {
  if (client === undefined) return {};
  return { cert: readFileSync(client.certFile, 'utf8'), key: readFileSync(client.keyFile) };
}

type Skipped = (where: string) => void;

/** One by one, because OpenSSL reads no further than a broken one. */
function certificatesOf(file: string, onSkipped: Skipped): string[] {
  const [, ...pieces] = readFileSync(file, 'utf8').split('-----BEGIN CERTIFICATE-----');
  const blocks = pieces.map((piece) => `-----BEGIN CERTIFICATE-----${piece.split('-----BEGIN ')[0]}`);
  return blocks.filter((block, index) => {
    if (isCertificate(block)) return true;
    onSkipped(`certificate ${index + 1} of ${file}`);
    return false;
  });
}

function isCertificate(block: string): boolean {
  try {
    new X509Certificate(block);
    return true;
  } catch {
    return false;
  }
}

const fingerprint = (files: TlsFiles): string => filesOf(files).map(stamp).join('\n');

function filesOf({ caFiles, caPath, client }: TlsFiles): string[] {
  const identity = client === undefined ? [] : [client.certFile, client.keyFile];
  return [...caFiles, ...(caPath === undefined ? [] : certificateFiles(caPath)), ...identity];
}

/** Changes with every write and every rename into place. */
export function stamp(file: string): string {
  const { ino, mtimeMs, size } = statSync(file);
  return `${file} ${ino} ${mtimeMs} ${size}`;
}
