/** A certificate and its private key. */
export interface Identity {
  /** PEM; the certificate itself first, then its chain. */
  readonly cert: string;
  /** PEM (PKCS #8). */
  readonly key: string;
}
