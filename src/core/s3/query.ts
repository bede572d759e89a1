import type { Query } from './request.ts';
import { decodeStrict, encodeComponent } from './uri.ts';

type Entry = readonly [name: string, value: string];

/** The raw query's parameters in order, decoded; `+` is a space, as S3 reads it. @throws S3Error InvalidURI */
export function parseQueryEntries(raw: string): Entry[] {
  if (raw === '') return [];
  return raw
    .split('&')
    .filter((pair) => pair !== '')
    .map(parsePair);
}

function parsePair(pair: string): Entry {
  const equals = pair.indexOf('=');
  if (equals < 0) return [decodeValue(pair), ''];
  return [decodeValue(pair.slice(0, equals)), decodeValue(pair.slice(equals + 1))];
}

function decodeValue(text: string): string {
  return decodeStrict(text.includes('+') ? text.replaceAll('+', '%20') : text);
}

export function queryOf(entries: readonly Entry[]): Query {
  return {
    entries,
    get: (name) => entries.find(([candidate]) => candidate === name)?.[1],
    has: (name) => entries.some(([candidate]) => candidate === name),
  };
}

/** A query string in the order given, encoded as SigV4 does; parameters without a value are written `acl=`. */
export function serializeQuery(entries: Iterable<Entry>): string {
  return Array.from(entries, ([name, value]) => `${encodeComponent(name)}=${encodeComponent(value)}`).join(
    '&',
  );
}
