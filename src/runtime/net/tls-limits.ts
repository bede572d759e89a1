import { constants } from 'node:crypto';
import { DEFAULT_CIPHERS } from 'node:tls';

/**
 * Of the certificates of every TLS listener. TLS 1.2 renegotiation is off: it costs a handshake each time, and runs our
 * code within OpenSSL in the middle of a connection. TLS 1.3 is off, because a peer may announce other keys in it as
 * often as it likes (KeyUpdate): OpenSSL neither counts these records nor says that they come, and a megabyte of them
 * holds the event loop for half a second and more ([ADR 3](../../../docs/adr/0003-memory.md)). Of TLS 1.2, only what has
 * forward secrecy and authenticated encryption.
 */
export const tlsContextLimits = {
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
  ciphers: 'ECDHE+AESGCM:ECDHE+CHACHA20',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

/** Of every TLS listener. */
export const tlsLimits = { ...tlsContextLimits, handshakeTimeout: 10_000 } as const;

/**
 * Of the TLS context of every client whose server is not trusted with our time. A server chooses the group of a classic
 * Diffie-Hellman exchange, and with 10,000 bits a connection costs 0.7 s within one turn, before anybody looks at its
 * certificate.
 */
export const tlsClientLimits = { minVersion: 'TLSv1.2', ciphers: `${DEFAULT_CIPHERS}:!DHE` } as const;
