import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Bed, sha256 } from './bed.ts';
import { FAITHFUL_KEYS } from './odd-keys.ts';

/** Files of a folder to synchronise, by their path in it. */
export const TREE: Readonly<Record<string, number>> = {
  'a.txt': 10,
  empty: 0,
  'sub/b c+d.bin': 70_000,
  'sub/ä &%é=.bin': 4_096,
  'sub/deeper/exact': 65_536,
  'large.bin': 13 * 1024 * 1024 + 5,
};

/** A folder whose names are keys that break proxies. */
export const ODD_TREE: Readonly<Record<string, number>> = Object.fromEntries(
  FAITHFUL_KEYS.versitygw.map((key, index) => [key, 100 + index]),
);

/** Stores keep whole seconds: a file of this very second looks newer than its upload. */
const AN_HOUR_AGO = Math.floor(Date.now() / 1000) - 3600;

/** Writes a folder into the clients' working directory. */
export function writeTree(bed: Bed, name: string, files: Readonly<Record<string, number>> = TREE): void {
  for (const [path, bytes] of Object.entries(files)) {
    const target = join(bed.clients.dir, name, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bed.payload(bytes));
    utimesSync(target, AN_HOUR_AGO, AN_HOUR_AGO);
  }
}

/** SHA-256 of each file of a folder by its path. */
export function readTree(bed: Bed, name: string): Record<string, string> {
  const folder = join(bed.clients.dir, name);
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter((path) => statSync(join(folder, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, sha256(readFileSync(join(folder, path)))]));
}
