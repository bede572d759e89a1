import { bytesOf } from '../support/payload.ts';

/** What one object must contain: the concatenation of these. */
export type Content = readonly { readonly name: string; readonly size: number }[];

export interface Held {
  readonly content: Content;
  readonly etag: string | undefined;
}

export const sizeOf = (content: Content): number => content.reduce((sum, { size }) => sum + size, 0);

export const expand = (content: Content): Buffer =>
  Buffer.concat(content.map(({ name, size }) => bytesOf(name, size)));
