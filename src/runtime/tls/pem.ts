const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a PEM text, in its order; whatever stands between them is left out. */
export function certificatesIn(pem: string): readonly string[] {
  return [...pem.matchAll(certificate)].map(([text]) => `${text}\n`);
}

/** One PEM text of several, each certificate once. */
export function bundleOf(...pems: readonly string[]): string {
  return [...new Set(pems.flatMap(certificatesIn))].join('');
}
