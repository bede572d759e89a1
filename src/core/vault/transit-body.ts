import { char } from '../json-bytes/bytes.ts';
import { decodeString } from '../json-bytes/decode-string.ts';
import type { JsonValue } from '../json-bytes/json-value.ts';
import { JsonView } from '../json-bytes/json-view.ts';
import { readName } from '../json-bytes/read-document.ts';
import { base64Length, decodeBase64, decodedLength, encodeBase64 } from './base64-bytes.ts';

/** What is to be wrapped or unwrapped. */
export type TransitInput = ({ readonly plaintext: Uint8Array } | { readonly ciphertext: string }) & {
  readonly associatedData?: string;
};

/** One value of an item, or why the server refused the item. */
export type ItemResult<V> = { readonly value: V } | { readonly error: string };

export interface TransitAnswer<V> {
  readonly errors: readonly string[];
  /** Undefined where the answer does not have the shape of as many results as there were inputs. */
  readonly results: readonly ItemResult<V>[] | undefined;
}

/** Reads one string of an answer; undefined for what it cannot be. */
export type ReadValue<V> = (bytes: Uint8Array, value: JsonValue) => V | undefined;

/** JSON text for one item, or for many at once. No string is made of a plaintext; the caller zeroes the text. */
export function transitBody(inputs: readonly TransitInput[]): Buffer {
  const many = inputs.length !== 1;
  const pieces: (string | Uint8Array)[] = many ? ['{"batch_input":['] : [];
  for (const [index, input] of inputs.entries()) {
    if (index > 0) pieces.push(',');
    if ('plaintext' in input) pieces.push('{"plaintext":"', input.plaintext, '"');
    else pieces.push(`{"ciphertext":${JSON.stringify(input.ciphertext)}`);
    pieces.push(`${associatedData(input.associatedData)}}`);
  }
  if (many) pieces.push(']}');
  return joined(pieces);
}

/** Transit's `associated_data`: base64 of the text in UTF-8. */
const associatedData = (text: string | undefined): string =>
  text === undefined ? '' : `,"associated_data":"${Buffer.from(text, 'utf8').toString('base64')}"`;

/** Texts are ASCII, bytes become base64. The memory is nobody else's. */
function joined(pieces: readonly (string | Uint8Array)[]): Buffer {
  const sizes = pieces.map((piece) =>
    typeof piece === 'string' ? piece.length : base64Length(piece.length),
  );
  const body = Buffer.from(new ArrayBuffer(sizes.reduce((sum, size) => sum + size, 0)));
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') at += body.write(piece, at, 'latin1');
    else at = encodeBase64(piece, body, at);
  }
  return body;
}

/**
 * Reads the string `field` of each item out of an answer, which has the single shape for one input and the batch shape
 * for more. Values that were read of an answer of another shape are handed to `discard`.
 * @throws JsonError for what is no JSON text
 */
export function readTransitAnswer<V>(
  bytes: Uint8Array,
  field: string,
  count: number,
  readValue: ReadValue<V>,
  discard: (value: V) => void,
): TransitAnswer<V> {
  const view = new JsonView(bytes);
  const results: (ItemResult<V> | undefined)[] = itemsOf(view, count).map((item) =>
    itemResult(view, item, field, readValue),
  );
  const found = results.filter((result) => result !== undefined);
  const whole = found.length === count;
  if (!whole) for (const result of found) if ('value' in result) discard(result.value);
  return { errors: errorsOf(view), results: whole ? found : undefined };
}

function errorsOf(view: JsonView): string[] {
  const errors = view.at('errors');
  if (errors?.kind !== 'array') return [];
  return view
    .items(errors)
    .filter(({ kind }) => kind === 'string')
    .map(({ start, end }) => readName(view.bytes, start, end));
}

/** None where there are not as many as were asked for. */
function itemsOf(view: JsonView, count: number): readonly JsonValue[] {
  const data = view.at('data');
  if (count === 1) return data === undefined ? [] : [data];
  const results = view.at('data', 'batch_results');
  const items = results?.kind === 'array' ? view.items(results) : [];
  return items.length === count ? items : [];
}

function itemResult<V>(
  view: JsonView,
  item: JsonValue,
  field: string,
  readValue: ReadValue<V>,
): ItemResult<V> | undefined {
  if (item.kind !== 'object') return undefined;
  const members = view.members(item);
  const error = members.find(({ name, kind }) => name === 'error' && kind === 'string');
  if (error !== undefined && error.end - error.start > 2)
    return { error: readName(view.bytes, error.start, error.end) };
  const member = members.find(({ name, kind }) => name === field && kind === 'string');
  if (member === undefined || member.end - member.start === 2) return undefined;
  const value = readValue(view.bytes, member);
  return value === undefined ? undefined : { value };
}

/** A string that is no secret. */
export const readWrapped: ReadValue<string> = (bytes, { start, end }) => readName(bytes, start, end);

/** A key in base64, decoded into memory that is nobody else's; undefined for other text. The caller zeroes it. */
export const readKey: ReadValue<Buffer> = (bytes, { start, end }) => {
  const escaped = bytes.subarray(start, end).includes(char.backslash);
  const text = escaped ? new Uint8Array(new ArrayBuffer(end - start)) : bytes.subarray(start + 1, end - 1);
  try {
    const length = escaped ? decodeString(bytes, start, end, text) : text.length;
    const size = decodedLength(text, length);
    if (size === undefined) return undefined;
    // Smaller arrays than 64 bytes that Node allocates itself lie in V8's heap, where collections leave copies.
    const key = Buffer.from(new ArrayBuffer(size));
    decodeBase64(text, key);
    return key;
  } finally {
    if (escaped) text.fill(0);
  }
};
