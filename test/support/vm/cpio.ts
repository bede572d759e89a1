import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** What an archive holds at one path: a host file, bytes, a link, a folder. Paths are absolute ones of the guest. */
export type Entry = { readonly path: string; readonly executable?: boolean } & (
  | { readonly file: string }
  | { readonly content: string | Uint8Array }
  | { readonly link: string }
  | { readonly folder: true }
);

const FOLDER = 0o040755;
const FILE = 0o100644;
const PROGRAM = 0o100755;
const LINK = 0o120777;
const TRAILER = 'TRAILER!!!';
const ALIGNMENT = 4;

/**
 * Appends a cpio archive ("newc", uncompressed: unpacking costs an emulated processor more than copying) to a file.
 * The folders above each path come by themselves. The kernel reads archives that follow each other as one.
 */
export function appendArchive(file: string, entries: readonly Entry[]): void {
  const descriptor = openSync(file, 'a');
  try {
    for (const entry of withFolders(entries)) {
      const { mode, data } = read(entry);
      writeRecord(descriptor, entry.path.slice(1), mode, data);
    }
    writeRecord(descriptor, TRAILER, 0, Buffer.alloc(0));
  } finally {
    closeSync(descriptor);
  }
}

function* withFolders(entries: readonly Entry[]): Generator<Entry> {
  const known = new Set<string>(['/']);
  for (const entry of entries) {
    for (const path of foldersAbove(entry.path)) {
      if (!known.has(path)) yield { path, folder: true };
      known.add(path);
    }
    if (!('folder' in entry && known.has(entry.path))) yield entry;
    if ('folder' in entry) known.add(entry.path);
  }
}

function foldersAbove(path: string): string[] {
  if (!path.startsWith('/')) throw new Error(`${path} is no absolute path`);
  const above: string[] = [];
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) above.unshift(folder);
  return above;
}

function read(entry: Entry): { mode: number; data: Uint8Array } {
  if ('folder' in entry) return { mode: FOLDER, data: Buffer.alloc(0) };
  if ('link' in entry) return { mode: LINK, data: Buffer.from(entry.link) };
  const mode = entry.executable ? PROGRAM : FILE;
  return { mode, data: 'file' in entry ? readFileSync(entry.file) : Buffer.from(entry.content) };
}

function writeRecord(descriptor: number, name: string, mode: number, data: Uint8Array): void {
  const head = header(mode, data.length, Buffer.byteLength(name) + 1);
  writeAll(descriptor, padded(Buffer.from(`${head}${name}\0`)));
  writeAll(descriptor, data);
  writeAll(descriptor, Buffer.alloc(padding(data.length)));
}

/** Magic number, then inode, mode, owner, group, links, time, size, devices, length of the name and checksum. */
function header(mode: number, size: number, nameSize: number): string {
  const fields = [0, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, nameSize, 0];
  return `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(padding(bytes.length))]);
}

const padding = (length: number) => (ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT;

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}
