import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stamp } from '../../../keyserver/connection.ts';
import type { TlsIdentity } from '../../../runtime/net/certificates.ts';

/** PEM files of the listener's certificate, including intermediate CAs, and of its key. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Reasons why the files cannot be used, one line each, without key material. */
export function tlsFaults({ certFile, keyFile }: CertificateFiles): readonly string[] {
  const cert = attempt(() => new X509Certificate(readFileSync(certFile)));
  const key = attempt(() => createPrivateKey(readFileSync(keyFile)));
  const faults = [
    ...(cert.failed ? [`SVC_PROXY_TLS_CERT: ${certFile} ${unreadable(cert.failed, 'certificate')}`] : []),
    ...(key.failed
      ? [`SVC_PROXY_TLS_KEY: ${keyFile} ${unreadable(key.failed, 'private key without a passphrase')}`]
      : []),
  ];
  if (cert.value === undefined || key.value === undefined) return faults;
  if (!cert.value.checkPrivateKey(key.value))
    return [`SVC_PROXY_TLS_KEY: ${keyFile} is not the key of the certificate in ${certFile}`];
  if (Date.parse(cert.value.validTo) < Date.now())
    return [`SVC_PROXY_TLS_CERT: the certificate in ${certFile} expired on ${cert.value.validTo}`];
  return [];
}

function attempt<T>(read: () => T): { readonly value?: T; readonly failed?: NodeJS.ErrnoException } {
  try {
    return { value: read() };
  } catch (error) {
    return { failed: error as NodeJS.ErrnoException };
  }
}

const unreadable = ({ syscall, code }: NodeJS.ErrnoException, expected: string): string =>
  syscall === undefined ? `holds no ${expected} in PEM` : `cannot be read (${code})`;

/** @throws Error for a file that cannot be read */
export function readTlsFiles({ certFile, keyFile }: CertificateFiles): TlsIdentity {
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}

/** A value that changes whenever a file does. */
export const stampOf = ({ certFile, keyFile }: CertificateFiles): string =>
  [certFile, keyFile].map((file) => attempt(() => stamp(file)).value).join('\n');
