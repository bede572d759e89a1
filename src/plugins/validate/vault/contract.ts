import type { VaultRequest, VaultResponse } from '../../../runtime/vault/contract.ts';

export type VaultQuery = Pick<VaultRequest, 'method' | 'path' | 'body'>;

/** The secrets server as one sees it who has logged in, or has not. */
export interface VaultSession {
  /**
   * Answers every status, refusals too.
   * @throws VaultError of kind `unavailable`
   */
  ask(query: VaultQuery, signal: AbortSignal): Promise<VaultResponse>;
}

/** What the server shows of itself before anything is said. */
export interface PeerCertificate {
  /** Why it is not to be trusted, as OpenSSL or Node names it; undefined where it is. */
  readonly problem: string | undefined;
  /** Milliseconds since 1970. */
  readonly validTo: number;
  readonly subject: string;
}

/** The secrets server. */
export interface VaultAccess {
  /** Of the broker where there is one. */
  readonly address: URL;
  /** Certificates are not verified. */
  readonly skipVerify: boolean;
  /** Without a token: health, seal status. */
  readonly anonymous: VaultSession;
  /** As the workload. @throws VaultError where it cannot log in; SvcError where settings do not say how */
  workload(): Promise<VaultSession>;
  /** As one who may look at keys and roles; the workload where nobody else was named. */
  auditor(): Promise<VaultSession>;
  /** What the workload may do on paths, which are not encoded. @throws NotEvaluated where nobody may ask */
  capabilities(
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Undefined without TLS. @throws NotEvaluated where there is no answer */
  certificate(signal: AbortSignal): Promise<PeerCertificate | undefined>;
}
