/** Bounds on the road to the store; times in milliseconds. */
export interface WireLimits {
  /** Connections at a time; further requests wait for one within `connectMs`. */
  readonly sockets: number;
  /** Until a connection stands, the wait for a free one and the TLS handshake included. */
  readonly connectMs: number;
  /** Without a byte from the store while it is the store's turn. */
  readonly idleMs: number;
  /** How long an unused connection is kept. */
  readonly keptMs: number;
  /** For the store to agree to a large body before it is sent all the same. */
  readonly continueMs: number;
}

export const wireLimits: WireLimits = {
  sockets: 128,
  connectMs: 10_000,
  idleMs: 60_000,
  keptMs: 15_000,
  continueMs: 1_000,
};
