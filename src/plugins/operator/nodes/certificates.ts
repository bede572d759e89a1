/** What the operator's certificates are to the node channel. */
export interface NodeCertificates {
  /** PEM: the server's key, and its certificate with the chain. */
  current(): { readonly key: string; readonly cert: string };
  /** PEM: authorities that agents' certificates are verified against. */
  clientAuthorities(): string;
  /** Called after each change of either. */
  onChange(handle: () => void): void;
}
