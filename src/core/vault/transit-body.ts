import { isRecord } from './answer.ts';

/** One string of an item, or why the server refused the item. */
export type ItemResult = { readonly value: string } | { readonly error: string };

/** The request body for one item, or for many at once. */
export function transitBody(inputs: readonly Readonly<Record<string, string>>[]): unknown {
  return inputs.length === 1 ? inputs[0] : { batch_input: inputs };
}

/** Transit's `associated_data`: base64 of the text in UTF-8. */
export const associatedData = (text: string | undefined): { associated_data?: string } =>
  text === undefined ? {} : { associated_data: Buffer.from(text, 'utf8').toString('base64') };

/**
 * Reads `field` of each item out of an answer, which has the single shape for one input and the batch shape for more.
 * @returns undefined where the answer does not have that shape
 */
export function transitResults(body: unknown, field: string, count: number): ItemResult[] | undefined {
  const data = isRecord(body) ? body['data'] : undefined;
  const items = count === 1 ? [data] : isRecord(data) ? data['batch_results'] : undefined;
  if (!Array.isArray(items) || items.length !== count) return undefined;
  const results = items.map((item) => itemResult(item, field));
  return results.every((result) => result !== undefined) ? results : undefined;
}

function itemResult(item: unknown, field: string): ItemResult | undefined {
  if (!isRecord(item)) return undefined;
  const { error } = item;
  if (typeof error === 'string' && error !== '') return { error };
  const value = item[field];
  return typeof value === 'string' && value !== '' ? { value } : undefined;
}
