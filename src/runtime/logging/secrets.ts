import type { LogFields } from './logger.ts';

/** Values that must not appear in any log line. */
export interface SecretRegistry {
  /** @returns a function that removes the value again, for a token that was replaced */
  register(value: string): () => void;
  /** Replaces every form of every registered value. */
  redact(text: string): string;
}

export const mask = '[redacted]';

export function createSecretRegistry(): SecretRegistry {
  const known = new Map<symbol, readonly string[]>();
  return {
    register(value) {
      const id = Symbol();
      known.set(id, secretForms(value));
      return () => void known.delete(id);
    },
    redact(text) {
      let clean = text;
      for (const forms of known.values()) {
        for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, mask);
      }
      return clean;
    },
  };
}

/** Shorter values would redact ordinary words; real tokens and keys are longer. */
export const minSecretLength = 8;

/** The process-wide registry: code that obtains a token or key registers it, and every logger redacts it. */
export const secrets: SecretRegistry = createSecretRegistry();

/**
 * Forms in which a secret can appear in a log line: unchanged, JSON-escaped, URL-encoded, in hexadecimal, and in base64
 * at any offset. Longest first.
 */
function secretForms(secret: string): readonly string[] {
  if (secret.length < minSecretLength) return [];
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const encoded = encodeURIComponent(secret.toWellFormed());
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encoded,
    lowerEscapes(encoded),
    new URLSearchParams([['', secret]]).toString().slice(1),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset)),
  ];
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** The base64 characters that depend only on these bytes if `offset` other bytes precede them. */
function base64At(bytes: Buffer, offset: number): string[] {
  const skipped = [0, 2, 3][offset] ?? 0;
  const whole = Math.floor(((bytes.length + offset) * 8) / 6);
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  return (['base64', 'base64url'] as const).map((form) => padded.toString(form).slice(skipped, whole));
}

function lowerEscapes(encoded: string): string {
  return encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

const secretName = /(token|secret|password|passphrase|authorization|credentials?|cookie)$/i;

/** Masks the texts of fields with names such as `token` or `clientSecret`. */
export function redactFields(fields: LogFields): LogFields {
  const names = Object.keys(fields);
  if (!names.some((name) => secretName.test(name))) return fields;
  return Object.fromEntries(names.map((name) => [name, isSecret(name, fields[name]) ? mask : fields[name]]));
}

function isSecret(name: string, value: LogFields[string]): boolean {
  return secretName.test(name) && (typeof value === 'string' || Array.isArray(value));
}
