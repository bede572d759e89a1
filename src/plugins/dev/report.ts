import { nonceBytes, tagBytes } from '../../objects/format/cipher.ts';
import type { Style } from '../../runtime/cli/terminal.ts';
import { bucket, type Facts, type RoundTrip, type StoredAsIs } from './round-trip.ts';

/** How text is rendered: styles, and the width in columns. */
export interface Pen {
  readonly paint: (style: Style, text: string) => string;
  readonly width: number;
}

const nameWidth = 12;

/** What runs where, and that it is for development only. */
export function serversText(facts: Facts, { usualProxy }: { readonly usualProxy: boolean }, { paint }: Pen) {
  const kept = facts.dataFolder
    ? `Keys and objects stay in ${facts.dataFolder}, the keys in the clear.`
    : 'Keys and objects are in memory, and gone when it ends.';
  const rows = [
    ['proxy', facts.proxy, usualProxy ? 'for any S3 client' : 'for any S3 client (8190 was taken)'],
    ...(facts.caFile === undefined ? [] : [['authority', facts.caFile, 'for clients to trust'] as const]),
    ['health', facts.health, '/healthz /readyz /metrics'],
    ['key server', facts.keyServer, 'transit key svc, secrets in secret/demo'],
    ['store', facts.store, 'stands for the cloud'],
  ] as const;
  return [
    paint('bold', 'svc dev: a key server, an object store, the encryption proxy and the wrapper'),
    `${paint('yellow', 'For development only.')} ${kept}`,
    '',
    ...rows.map(([name, url, what]) => `   ${name.padEnd(nameWidth)}${url.padEnd(24)}${paint('dim', what)}`),
    '',
  ].join('\n');
}

/** The round trip, step by step. */
export function roundTripText({ bucket, key, written, stored, read }: RoundTrip, pen: Pen): string {
  const size = (bytes: Buffer) => `${bytes.length} bytes`;
  const bold = (text: string) => pen.paint('bold', text);
  return [
    bold(`1  What you wrote to s3://${bucket}/${key}: ${size(written)}`),
    '',
    ...dump([{ name: 'plaintext', bytes: written }], pen),
    '',
    bold(`2  What the store holds: ${size(stored.body)}`),
    '',
    ...dump(regionsOf(stored.body), pen),
    '',
    ...metadataLines(stored, pen),
    '',
    bold(`3  What you read back: ${size(read)}, the same as you wrote`),
    '',
    ...dump([{ name: 'plaintext', bytes: read }], pen),
    '',
  ].join('\n');
}

export function tryText({ write, read, look }: TryLines, { paint }: Pen): string {
  return [
    paint('bold', 'Try it from another terminal:'),
    '',
    write,
    read,
    '',
    'and look at what the store holds of it:',
    '',
    look,
    '',
  ].join('\n');
}

export const endText = ({ paint }: Pen): string => paint('dim', 'Ctrl-C ends it.');

function regionsOf(body: Buffer): Region[] {
  return [
    { name: 'nonce', bytes: body.subarray(0, nonceBytes) },
    { name: 'ciphertext', bytes: body.subarray(nonceBytes, -tagBytes) },
    { name: 'tag', bytes: body.subarray(-tagBytes) },
  ];
}

const styles: Readonly<Record<string, Style>> = {
  nonce: 'cyan',
  ciphertext: 'yellow',
  tag: 'red',
  plaintext: 'green',
};

function dump(regions: readonly Region[], { paint }: Pen): string[] {
  const line = ({ name, region, hex, text }: HexLine) => {
    const style = styles[region] ?? 'dim';
    return `   ${name.padEnd(nameWidth)}${paint(style, hex)}  ${paint(style, text)}`;
  };
  return hexLines(regions).map(line);
}

/** The wrapped key is long: the report shows what fits, `--json` everything. */
function metadataLines({ metadata }: StoredAsIs, { paint, width }: Pen): string[] {
  const names = Object.keys(metadata);
  const column = Math.max(...names.map((name) => name.length)) + 2;
  const room = Math.max(16, width - column - 3);
  return names.map((name) => `   ${name.padEnd(column)}${paint('dim', fitted(metadata[name] ?? '', room))}`);
}

const fitted = (text: string, room: number): string =>
  text.length <= room ? text : `${text.slice(0, room - 1)}…`;

/** A named stretch of a body. */
interface Region {
  readonly name: string;
  readonly bytes: Buffer;
}

interface HexLine {
  /** Name of the region, on its first line only. */
  readonly name: string;
  readonly region: string;
  /** 16 bytes at most: `4e 6f …`, padded to full width. */
  readonly hex: string;
  /** The same bytes as ASCII, with dots for unprintable ones. */
  readonly text: string;
}

const perLine = 16;
const hexWidth = perLine * 3 - 1;

/** 16 bytes a line; a region begins on a line of its own. */
export function hexLines(regions: readonly Region[]): HexLine[] {
  return regions.flatMap(({ name, bytes }) =>
    slices(bytes).map((slice, index) => ({
      name: index === 0 ? name : '',
      region: name,
      hex: hexOf(slice),
      text: slice.toString('latin1').replace(/[^\x20-\x7e]/g, '.'),
    })),
  );
}

function slices(bytes: Buffer): Buffer[] {
  const count = Math.ceil(bytes.length / perLine);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * perLine, (index + 1) * perLine));
}

const hexOf = (bytes: Buffer): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join(' ')
    .padEnd(hexWidth);

/** Shell commands that work as they are, in the folder in which `svc dev` was started. */
export interface TryLines {
  readonly write: string;
  readonly read: string;
  /** The first stored bytes of the same object. */
  readonly look: string;
}

const file = 'README.md';
const note = 'note.txt';

/** @param hasReadme whether the folder has a README.md to upload; otherwise a line of text is uploaded */
export function tryLines({ proxy, caFile, peek, client }: Facts, hasReadme: boolean): TryLines {
  const environment = [
    `AWS_ACCESS_KEY_ID=${client.accessKeyId}`,
    `AWS_SECRET_ACCESS_KEY=${client.secretAccessKey}`,
    `AWS_DEFAULT_REGION=${client.region}`,
  ];
  const aws = `${environment.join(' ')} aws --endpoint-url ${proxy}${caFile === undefined ? '' : ` --ca-bundle ${caFile}`} s3 cp`;
  const key = hasReadme ? file : note;
  return {
    write: hasReadme
      ? `${aws} ${file} s3://${bucket}/${key}`
      : `echo 'for my eyes only' | ${aws} - s3://${bucket}/${key}`,
    read: `${aws} s3://${bucket}/${key} -`,
    look: `curl -s -r 0-159 ${peek}/${bucket}/${key} | od -A d -t x1z`,
  };
}
