import { exitStatus, SvcError } from '../errors.ts';

/** One secret of the delivery record. The value is raw bytes: it need not be text, but holds no NUL. */
export interface SecretEntry {
  readonly key: string;
  readonly value: Uint8Array;
}

const text = new TextEncoder();
const equals = 0x3d;

/** Bytes of `KEY=VALUE\0` for each entry and of the empty record that ends them. */
export function encodedLength(entries: readonly SecretEntry[]): number {
  return entries.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.length + 2, 1);
}

/**
 * Writes the entries from the target's beginning, and returns how many bytes that took. Values are copied from
 * buffer to buffer.
 * @throws SvcError SECRET_ENTRY_INVALID (exit 78) that names the key, before anything is written
 * @throws RangeError when the target is shorter than encodedLength says
 */
export function encodeEntries(target: Uint8Array, entries: readonly SecretEntry[]): number {
  for (const entry of entries) check(entry);
  if (encodedLength(entries) > target.length) throw new RangeError('The entries exceed their target.');
  let at = 0;
  for (const { key, value } of entries) {
    at += text.encodeInto(key, target.subarray(at)).written;
    target[at++] = equals;
    target.set(value, at);
    at += value.length;
    target[at++] = 0;
  }
  target[at++] = 0;
  return at;
}

function check({ key, value }: SecretEntry): void {
  if (key === '' || /[=\0]/.test(key)) throw invalid(key, 'a name is not empty and has neither "=" nor NUL');
  if (value.includes(0)) throw invalid(key, 'a value with a NUL byte cannot be delivered');
}

function invalid(key: string, rule: string): SvcError {
  return new SvcError('SECRET_ENTRY_INVALID', `Secret ${JSON.stringify(key)}: ${rule}`, {
    nextStep: 'Rename or re-encode the field in the secrets server, or leave it out.',
    exitStatus: exitStatus.config,
  });
}
