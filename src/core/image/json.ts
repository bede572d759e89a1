import { ImageError } from './image-error.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** @throws ImageError unless the bytes are a JSON object */
export function readJsonObject(bytes: Uint8Array, what: string): JsonObject {
  const value = parse(bytes, what);
  if (!isJsonObject(value)) throw new ImageError(`${what} is no JSON object`);
  return value;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function parse(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new ImageError(`${what} is no JSON`, { cause });
  }
}
