import { constants } from 'node:crypto';

/**
 * Of the certificates of every TLS listener. TLS 1.2 renegotiation is off: it costs a handshake each time, and runs our
 * code within OpenSSL in the middle of a connection.
 */
export const tlsContextLimits = {
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

/** Of every TLS listener. */
export const tlsLimits = { ...tlsContextLimits, handshakeTimeout: 10_000 } as const;
