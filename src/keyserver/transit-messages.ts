import { char, decodeString, type JsonValue, readName } from '../runtime/bounds/json-document.ts';
import { JsonView } from '../runtime/bounds/json-view.ts';
import { errorsOf } from './answers.ts';

/** A value to wrap or unwrap. */
export type TransitInput = ({ readonly plaintext: Uint8Array } | { readonly ciphertext: string }) & {
  readonly associatedData?: string;
};

/** The result for one item: a value, or the server's reason for refusing it. */
export type ItemResult<V> = { readonly value: V } | { readonly error: string };

export interface TransitAnswer<V> {
  readonly errors: readonly string[];
  /**
   * Undefined if the answer does not have one result for each input; `misplaced` if it states that a result belongs to
   * another input.
   */
  readonly results: readonly ItemResult<V>[] | 'misplaced' | undefined;
}

/** Reads one string of an answer; undefined for an invalid value. */
export type ReadValue<V> = (bytes: Uint8Array, value: JsonValue) => V | undefined;

/**
 * JSON text for one or more items. Plaintexts never become strings; the caller zeroes the text.
 * @param reference number of the first of several items; the server repeats each number with the result
 */
export function transitBody(inputs: readonly TransitInput[], reference = 0): Buffer {
  const many = inputs.length !== 1;
  const pieces: (string | Uint8Array)[] = many ? ['{"batch_input":['] : [];
  for (const [index, input] of inputs.entries()) {
    if (index > 0) pieces.push(',');
    if ('plaintext' in input) pieces.push('{"plaintext":"', input.plaintext, '"');
    else pieces.push(`{"ciphertext":${JSON.stringify(input.ciphertext)}`);
    const numbered = many ? `,"reference":"${reference + index}"` : '';
    pieces.push(`${associatedData(input.associatedData)}${numbered}}`);
  }
  if (many) pieces.push(']}');
  return joined(pieces);
}

/** Transit's `associated_data`: base64 of the text in UTF-8. */
const associatedData = (text: string | undefined): string =>
  text === undefined ? '' : `,"associated_data":"${Buffer.from(text, 'utf8').toString('base64')}"`;

/** Concatenates ASCII texts and bytes as base64 into a buffer of its own. */
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
 * Reads the string `field` of each item in an answer, which has the single form for one input and the batch form for
 * more. If the answer is malformed or has results of other inputs, its values are passed to `discard`.
 * @throws JsonError unless the bytes are a JSON text
 */
export function readTransitAnswer<V>(
  bytes: Uint8Array,
  field: string,
  count: number,
  readValue: ReadValue<V>,
  discard: (value: V) => void,
  reference = 0,
): TransitAnswer<V> {
  const view = new JsonView(bytes);
  const items = itemsOf(view, count);
  const results: (ItemResult<V> | undefined)[] = items.map((item) =>
    itemResult(view, item, field, readValue),
  );
  const found = results.filter((result) => result !== undefined);
  const whole = found.length === count;
  const placed = count === 1 || !whole || inOrder(view, items, found, reference);
  if (!whole || !placed) for (const result of found) if ('value' in result) discard(result.value);
  return { errors: errorsOf(view), results: whole ? (placed ? found : 'misplaced') : undefined };
}

/** Whether all values repeat their input's reference, or none does: older servers repeat none. */
function inOrder<V>(
  view: JsonView,
  items: readonly JsonValue[],
  results: readonly ItemResult<V>[],
  reference: number,
): boolean {
  let named = 0;
  let unnamed = 0;
  for (const [index, result] of results.entries()) {
    const text = referenceOf(view, items[index] as JsonValue);
    if (text !== '' && text !== String(reference + index)) return false;
    if (text !== '') named++;
    else if ('value' in result) unnamed++;
  }
  return named === 0 || unnamed === 0;
}

function referenceOf(view: JsonView, item: JsonValue): string {
  const member = view.members(item).find(({ name }) => name === 'reference');
  if (member === undefined || member.kind === 'null') return '';
  return member.kind === 'string' ? readName(view.bytes, member.start, member.end) : 'no string';
}

/** Empty unless there is exactly one item for each input. */
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

/** A string that must not be a secret. */
export const readWrapped: ReadValue<string> = (bytes, { start, end }) => readName(bytes, start, end);

/** Decodes a base64 key into a buffer of its own; undefined for any other text. The caller zeroes it. */
export const readKey: ReadValue<Buffer> = (bytes, { start, end }) => {
  const escaped = bytes.subarray(start, end).includes(char.backslash);
  const text = escaped ? new Uint8Array(new ArrayBuffer(end - start)) : bytes.subarray(start + 1, end - 1);
  try {
    const length = escaped ? decodeString(bytes, start, end, text) : text.length;
    const size = decodedLength(text, length);
    if (size === undefined) return undefined;
    // arrays of up to 64 bytes live on the heap of V8 by default, where garbage collection leaves copies
    const key = Buffer.from(new ArrayBuffer(size));
    decodeBase64(text, key);
    return key;
  } finally {
    if (escaped) text.fill(0);
  }
};

const alphabet = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const padding = 0x3d;
const values = new Int8Array(256).fill(-1);
for (const [value, letter] of alphabet.entries()) values[letter] = value;

export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** Writes padded standard base64 without creating a string. @returns the offset after it */
export function encodeBase64(bytes: Uint8Array, into: Uint8Array, offset: number): number {
  let at = offset;
  for (let from = 0; from < bytes.length; from += 3) {
    const left = bytes.length - from;
    const group = (at0(bytes, from) << 16) | (at0(bytes, from + 1) << 8) | at0(bytes, from + 2);
    into[at++] = at0(alphabet, group >> 18);
    into[at++] = at0(alphabet, (group >> 12) & 63);
    into[at++] = left > 1 ? at0(alphabet, (group >> 6) & 63) : padding;
    into[at++] = left > 2 ? at0(alphabet, group & 63) : padding;
  }
  return at;
}

/**
 * Number of bytes that the first `length` characters encode; undefined unless they are canonical, that is padded and
 * unchanged by decoding and encoding again.
 */
export function decodedLength(text: Uint8Array, length: number): number | undefined {
  if (length === 0 || length % 4 !== 0) return undefined;
  const padded = text[length - 1] !== padding ? 0 : text[length - 2] !== padding ? 1 : 2;
  const letters = length - padded;
  for (let at = 0; at < letters; at++) if ((values[at0(text, at)] as number) < 0) return undefined;
  const unused = padded === 0 ? 0 : padded === 1 ? 3 : 15;
  if (((values[at0(text, letters - 1)] as number) & unused) !== 0) return undefined;
  return (length / 4) * 3 - padded;
}

/** Decodes base64 that `decodedLength` found canonical, filling `into`. */
export function decodeBase64(text: Uint8Array, into: Uint8Array): void {
  let from = 0;
  for (let at = 0; at < into.length; at += 3) {
    let group = 0;
    for (let index = 0; index < 4; index++)
      group = (group << 6) | Math.max(values[at0(text, from++)] as number, 0);
    into[at] = group >> 16;
    if (at + 1 < into.length) into[at + 1] = group >> 8;
    if (at + 2 < into.length) into[at + 2] = group;
  }
}

const at0 = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0;

/** A wrapped key in transit's format: `vault:v<version>:<base64>`. */
export interface ParsedWrappedKey {
  /** Version of the KEK, from 1. */
  readonly keyVersion: number;
  /** Canonical, padded standard base64. */
  readonly payload: string;
}

/** Maximum text length to parse; a wrapped 32-byte key has about 90 characters. */
export const maxWrappedKeyLength = 1024;

const pattern = /^vault:v([1-9]\d{0,8}):(.+)$/;

/** Undefined for any text that transit would not have written. */
export function parseWrappedKey(text: string): ParsedWrappedKey | undefined {
  if (text.length > maxWrappedKeyLength) return undefined;
  const match = pattern.exec(text);
  const [, version, payload] = match ?? [];
  if (version === undefined || payload === undefined || !isCanonicalBase64(payload)) return undefined;
  return { keyVersion: Number(version), payload };
}

const canonicalBase64 =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)$/;

/** True if decoding and encoding again would not change the text. Does not decode it, because it may be a key. */
export const isCanonicalBase64 = (text: string): boolean => canonicalBase64.test(text);
