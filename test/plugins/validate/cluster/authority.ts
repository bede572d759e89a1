import { createCertificateAuthority } from '../../../support/certificates.ts';

/** The time of all fixtures, in which the certificate below is valid. */
export const now = Date.now();

/** As `caBundle` has it; valid for about a day. */
export const caBundle = Buffer.from(createCertificateAuthority().cert).toString('base64');
