import type { SecretEntry } from '../../../core/secret-records/entry.ts';

/** What the secrets server holds at a path. Values are bytes in protected memory, in place. */
export interface Document {
  readonly path: string;
  readonly fields: readonly { readonly name: string; readonly value: Uint8Array }[];
}

/** A secret under the name by which the application gets it, and where it comes from. */
export interface Delivered extends SecretEntry {
  readonly path: string;
  readonly field: string;
}

/** `secret/app, field "password"`, for messages. */
export function originOf({ path, field }: Pick<Delivered, 'path' | 'field'>): string {
  return `${path}, field ${JSON.stringify(field)}`;
}
