import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { certificatesIn } from './pem.ts';

/** A config map takes 1 MiB at most, with all that is in it. */
const mostBytes = 1_000_000;

/**
 * The certificates of a file as PEM, and nothing else: a key that was left in it goes nowhere.
 * @throws Error where it cannot be read or holds no certificate
 */
export async function readAuthorities(path: string): Promise<string> {
  const certificates = certificatesIn(await readFile(path, 'utf8'));
  if (certificates.length === 0) throw new Error('there is no certificate in it');
  for (const certificate of certificates) new X509Certificate(certificate);
  const text = certificates.map((certificate) => `${certificate.trim()}\n`).join('');
  if (text.length > mostBytes) throw new Error(`it has over ${mostBytes} bytes`);
  return text;
}
