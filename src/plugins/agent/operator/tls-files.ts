import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { messageOf } from '../../../core/errors.ts';
import type { TlsPaths } from './contract.ts';
import { ReportError } from './report-error.ts';

/** Another object whenever the files have changed. */
export interface TlsMaterial {
  readonly context: SecureContext;
  /** When the agent's own certificate ends. */
  readonly expires: Date;
}

/** The agent's identity and what it trusts, read again before each use; kept while new files do not fit together. */
export class TlsFiles {
  readonly #paths: TlsPaths;
  #seen = '';
  #material: TlsMaterial | undefined;

  constructor(paths: TlsPaths) {
    this.#paths = paths;
  }

  /** @throws ReportError tls_files, while there has been no usable set of files */
  async current(): Promise<TlsMaterial> {
    try {
      await this.#refresh();
    } catch (cause) {
      if (this.#material === undefined) throw unusable(this.#paths, cause);
    }
    return this.#material as TlsMaterial;
  }

  async #refresh(): Promise<void> {
    const { certPath, keyPath, caPath } = this.#paths;
    const [cert, key, ca] = await Promise.all([readFile(certPath), readFile(keyPath), readFile(caPath)]);
    try {
      const seen = fingerprint([cert, key, ca]);
      if (seen === this.#seen) return;
      this.#material = materialOf(cert, key, ca);
      this.#seen = seen;
    } finally {
      key.fill(0);
    }
  }
}

function materialOf(cert: Buffer, key: Buffer, ca: Buffer): TlsMaterial {
  // Of an empty text Node makes the authorities of the system.
  if (!ca.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error('the file of authorities has no certificate');
  const context = createSecureContext({ minVersion: 'TLSv1.2', cert, key, ca });
  return { context, expires: new Date(new X509Certificate(cert).validTo) };
}

function fingerprint(parts: readonly Buffer[]): string {
  return parts.map((part) => createHash('sha256').update(part).digest('hex')).join(' ');
}

function unusable({ certPath, keyPath, caPath }: TlsPaths, cause: unknown): ReportError {
  const why = messageOf(cause);
  const names = `${certPath}, ${keyPath}, ${caPath}`;
  return new ReportError('tls_files', `the TLS files cannot be used (${names}): ${why}`, { cause });
}
