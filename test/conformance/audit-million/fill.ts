import { linkSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Bucket } from '../support/real-bed.ts';
import { type Kind, keyOf, kindOf, kinds, objectsOfAFolder } from './kinds.ts';
import { type Clients, write } from './originals.ts';

/** A file has at most 65,000 names on ext4. */
const namesOfAFile = 50_000;

export interface Place extends Clients {
  /** Where the store keeps the objects. */
  readonly dataDir: string;
  /** Has the key server make the next version of the key. */
  readonly rotate: () => Promise<void>;
}

/** What is there in the end. */
export interface Filled {
  /** How many objects were written through S3, for others to be further names of. */
  readonly originals: number;
  /** Of all, as they are stored. */
  readonly bytes: number;
}

/**
 * Fills the bucket with so many objects. To versitygw a file is an object, and its extended attributes are the metadata:
 * so one object in fifty thousand is written through S3, and the others are further names of its file.
 */
export async function fill(place: Place, count: number): Promise<Filled> {
  const originals = originalsOf(count);
  await writeAll(place, originals);
  const file = (index: number) => join(place.dataDir, Bucket, keyOf(index));
  const isOriginal = new Set(originals);
  const current = new Map<Kind, { readonly path: string; readonly size: number }>();
  let bytes = 0;
  for (let index = 0; index < count; index++) {
    const [kind, path] = [kindOf(index), file(index)];
    if (index % objectsOfAFolder === 0) {
      mkdirSync(dirname(path), { recursive: true });
      // so that a signal ends it
      await setImmediate();
    }
    if (isOriginal.has(index)) current.set(kind, { path, size: statSync(path).size });
    else linkSync(current.get(kind)?.path ?? '', path);
    bytes += current.get(kind)?.size ?? 0;
  }
  return { originals: originals.length, bytes };
}

/** Of each kind the first, and then one each time that a file has enough names; sorted. */
function originalsOf(count: number): number[] {
  const seen = new Map<Kind, number>();
  const found: number[] = [];
  for (let index = 0; index < count; index++) {
    const kind = kindOf(index);
    const before = seen.get(kind) ?? 0;
    if (before % namesOfAFile === 0) found.push(index);
    seen.set(kind, before + 1);
  }
  return found;
}

/** The key is rotated before those that are under its second version. */
async function writeAll(place: Place, originals: readonly number[]): Promise<void> {
  for (const kind of Object.keys(kinds) as Kind[]) {
    if (kind === 'second') await place.rotate();
    for (const index of originals) if (kindOf(index) === kind) await write[kind](place, keyOf(index));
  }
}
