import { isRecord } from '../../../core/vault/answer.ts';
import { isCanonicalBase64 } from '../../../core/vault/wrapped-key.ts';
import { Refusal } from './refusal.ts';
import type { TransitKey } from './transit-key.ts';

type Item = Readonly<Record<string, unknown>>;
type Operation = (key: TransitKey, item: Item) => Record<string, unknown>;

export interface TransitAnswer {
  readonly status: number;
  readonly body: { readonly data: unknown };
}

/** One item, or many as `batch_input`; with a bad item among many the status is 400 and the good ones are there. */
export function runTransit(operation: Operation, key: TransitKey, body: Item): TransitAnswer {
  const { batch_input: batch } = body;
  if (batch === undefined) return { status: 200, body: { data: operation(key, body) } };
  if (!Array.isArray(batch) || batch.length === 0) throw new Refusal(400, 'missing batch input to process');
  const results = batch.map((item) => tried(operation, key, item));
  const status = results.some((result) => 'error' in result) ? 400 : 200;
  return { status, body: { data: { batch_results: results } } };
}

function tried(operation: Operation, key: TransitKey, item: unknown): Record<string, unknown> {
  try {
    return operation(key, isRecord(item) ? item : {});
  } catch (error) {
    if (error instanceof Refusal) return { error: error.message };
    throw error;
  }
}

export const encrypt: Operation = (key, item) => {
  const plaintext = bytes(item['plaintext'], 'plaintext');
  if (plaintext === undefined) throw new Refusal(400, 'missing plaintext to encrypt');
  try {
    return { ciphertext: key.encrypt(plaintext, associatedData(item)), key_version: key.latest };
  } finally {
    plaintext.fill(0);
  }
};

export const decrypt: Operation = (key, item) => {
  const { ciphertext } = item;
  if (typeof ciphertext !== 'string' || ciphertext === '')
    throw new Refusal(400, 'missing ciphertext to decrypt');
  const plaintext = key.decrypt(ciphertext, associatedData(item));
  try {
    return { plaintext: plaintext.toString('base64') };
  } finally {
    plaintext.fill(0);
  }
};

const associatedData = (item: Item): Buffer =>
  bytes(item['associated_data'], 'associated_data') ?? Buffer.alloc(0);

function bytes(value: unknown, name: string): Buffer | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !isCanonicalBase64(value))
    throw new Refusal(400, `failed to base64-decode ${name}`);
  return Buffer.from(value, 'base64');
}
