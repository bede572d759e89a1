/**
 * What a wrapped key is bound to besides the KEK. The text goes to the key
 * server as associated data, so a key moved to another name cannot be unwrapped.
 */
export type BindingMode = 'none' | 'key' | 'bucket-key';

/** Where an object lives, as the caller names it. */
export interface ObjectName {
  readonly bucket: string;
  readonly key: string;
}

export type KeyPurpose =
  | { readonly kind: 'object' }
  /** `upload` is the manifest id; a part of another upload, or at another place, does not unwrap. */
  | { readonly kind: 'part'; readonly upload: string; readonly number: number }
  | { readonly kind: 'seal'; readonly upload: string };

/**
 * @returns UTF-8 text, unambiguous because it is a JSON array, or undefined under `none`.
 */
export function associatedData(mode: BindingMode, name: ObjectName, purpose: KeyPurpose): string | undefined {
  if (mode === 'none') return undefined;
  const bucket = mode === 'bucket-key' ? name.bucket : null;
  return JSON.stringify(['svc', 1, bucket, name.key, purpose.kind, ...purposeFields(purpose)]);
}

function purposeFields(purpose: KeyPurpose): (string | number)[] {
  if (purpose.kind === 'object') return [];
  if (purpose.kind === 'seal') return [purpose.upload];
  return [purpose.upload, purpose.number];
}
