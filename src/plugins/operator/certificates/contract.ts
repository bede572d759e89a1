/** What the webhook and the node channel serve with. */
export interface ServerCertificate {
  /** PEM. */
  readonly key: string;
  /** PEM, its chain behind it. */
  readonly cert: string;
  /** PEM bundle by which it is verified: `caBundle` of the webhooks, `ca.crt` of the agents. */
  readonly ca: string;
}

/** The operator's certificates, which are another thing now and then. */
export interface OperatorCertificates {
  /** As they are now; those who keep them listen to changes. */
  current(): ServerCertificate;
  /** PEM bundle that certificates of agents are verified by. */
  clientAuthorities(): string;
  /** Called after each change of either; it must not throw. */
  onChange(handle: () => void): void;
  /** Resolves when the signal was aborted and nothing is under way; never rejects. */
  readonly closed: Promise<void>;
}
