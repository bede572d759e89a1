import { secretForms } from './secret-forms.ts';

/** Values that must not leave the process in any log line. */
export interface SecretRegistry {
  /** Returns the function that forgets the value again, for a token that was replaced. */
  register(value: string): () => void;
  /** The text with every form of every registered value replaced. */
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

/** The registry of this process: whoever obtains a token or key registers it, every logger redacts by it. */
export const secrets: SecretRegistry = createSecretRegistry();
