import type { VaultEndpoint, VaultPlace } from './config.ts';

/** PEM files; each is read again when it has changed. */
export type TlsFiles = Pick<VaultEndpoint, 'caFiles' | 'caPath' | 'client'>;

/** Where the key server is and how it is spoken to. */
export interface VaultConnection {
  /** `https://host:port`, with a path where a gateway adds one. */
  readonly address: URL;
  readonly namespace: string | undefined;
  /** Authorities given here replace the built-in roots, as in Vault's own clients. */
  readonly tls: TlsFiles;
  /** Development only: any certificate will do. */
  readonly skipVerify: boolean;
  /** Go after a standby's 307 to the active server (standby.ts). */
  readonly followStandby: boolean;
  /** Until TCP and TLS are up, in ms. */
  readonly connectTimeoutMs: number;
  /** For one whole exchange, in ms. */
  readonly requestTimeoutMs: number;
  /** Most bytes of one answer. */
  readonly maxAnswerBytes: number;
  /** Most connections at a time. */
  readonly maxSockets: number;
}

export const connectionDefaults = {
  connectTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  maxAnswerBytes: 8 * 1024 * 1024,
  maxSockets: 64,
} as const satisfies Partial<VaultConnection>;

/** A client certificate is for the server or broker that was named, so with one no redirect is followed. */
export function vaultConnection({ endpoint, namespace }: VaultPlace): VaultConnection {
  const { url, skipVerify, caFiles, caPath, client } = endpoint;
  return {
    ...connectionDefaults,
    address: url,
    namespace,
    skipVerify,
    tls: { caFiles, caPath, client },
    followStandby: client === undefined,
  };
}
