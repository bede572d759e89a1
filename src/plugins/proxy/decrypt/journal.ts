import { closeSync, createReadStream, openSync, readdirSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { exitStatus, SvcError } from '../../../core/errors.ts';

/** Where objects come from; a folder belongs to one such place. */
export interface Place {
  readonly store: string;
  readonly bucket: string;
  readonly prefix: string;
}

/** An object whose plaintext lies in the folder, whole and verified. */
export interface DecryptedObject {
  readonly key: string;
  /** The store's, unquoted. */
  readonly etag: string;
  /** Stored bytes. */
  readonly stored: number;
  readonly modified: string;
  /** Plaintext bytes. */
  readonly bytes: number;
  /** From the folder on, its parts joined by slashes; with one at the end for a folder. */
  readonly path: string;
}

const version = 1;
const fileName = /^journal-([1-9]\d{0,8})\.jsonl$/;

/**
 * What earlier runs have completed, and what this one does. Each run writes a file of its own, in the order of the store's
 * listing, so that the earlier ones are read beside it, a page at a time.
 */
export class Journal {
  readonly #earlier: readonly JournalFile[];
  readonly #own: number | undefined;

  private constructor(earlier: readonly JournalFile[], own: number | undefined) {
    this.#earlier = earlier;
    this.#own = own;
  }

  /**
   * @param write false: only what there is, is read
   * @throws SvcError DECRYPT_FOLDER for a journal of another place
   */
  static open(folder: string, place: Place, write: boolean): Journal {
    const numbers = readdirSync(folder)
      .flatMap((name) => fileName.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((one, other) => one - other);
    const earlier = numbers.map((number) => new JournalFile(join(folder, `journal-${number}.jsonl`)));
    for (const file of earlier) file.check(place);
    if (!write) return new Journal(earlier, undefined);
    const own = openSync(join(folder, `journal-${(numbers.at(-1) ?? 0) + 1}.jsonl`), 'wx', 0o600);
    writeSync(own, line({ version, ...place }));
    return new Journal(earlier, own);
  }

  /** What earlier runs completed of a page of keys; pages are to be asked for in ascending order. */
  async of(keys: readonly string[]): Promise<ReadonlyMap<string, DecryptedObject>> {
    const wanted = new Set(keys);
    const known = new Map<string, DecryptedObject>();
    for (const file of this.#earlier)
      for await (const entry of file.until(lastOf(keys)))
        if (wanted.has(entry.key)) known.set(entry.key, entry);
    return known;
  }

  add(entry: DecryptedObject): void {
    if (this.#own !== undefined) writeSync(this.#own, line(entry));
  }

  /** @param whole this run has seen all that there is, so that nothing is needed of the earlier ones */
  close(whole: boolean): void {
    for (const file of this.#earlier) file.close();
    if (this.#own === undefined) return;
    closeSync(this.#own);
    if (whole) for (const { path } of this.#earlier) rmSync(path, { force: true });
  }
}

/** By bytes; the last one of a page, unless a store lists in an order of its own. */
function lastOf(keys: readonly string[]): Buffer {
  const [last = Buffer.alloc(0)] = keys
    .map((key) => Buffer.from(key))
    .sort((one, other) => other.compare(one));
  return last;
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** Of a page of a listing. Within a page entries stand in the order in which the objects came out. */
const mostUnordered = 1000;

class JournalFile {
  readonly path: string;
  #lines: AsyncIterator<string> | undefined;
  /** Those behind what was asked for so far. */
  #ahead: DecryptedObject[] = [];
  #ended = false;

  constructor(path: string) {
    this.path = path;
  }

  check(place: Place): void {
    const first = firstLine(this.path);
    const { version: found, ...of } = (parsed(first) ?? {}) as Partial<Place> & { version?: unknown };
    // Of a run that was killed before it had written anything
    if (first === '') return;
    const same = of.store === place.store && of.bucket === place.bucket && of.prefix === place.prefix;
    if (found === version && same) return;
    throw new SvcError('DECRYPT_FOLDER', `${this.path} is of another source or of another version of svc`, {
      nextStep: 'Name another folder by --to; one folder holds the objects of one source.',
      exitStatus: exitStatus.config,
    });
  }

  async *until(last: Buffer): AsyncGenerator<DecryptedObject> {
    const behind = ({ key }: DecryptedObject) => Buffer.compare(Buffer.from(key), last) > 0;
    const known = this.#ahead;
    this.#ahead = known.filter(behind);
    yield* known.filter((entry) => !behind(entry));
    while (this.#ahead.length < mostUnordered) {
      const entry = await this.#read();
      if (entry === undefined) return;
      if (behind(entry)) this.#ahead.push(entry);
      else yield entry;
    }
  }

  close(): void {
    void this.#lines?.return?.();
  }

  /** Lines that were cut by the end of a run say nothing. */
  async #read(): Promise<DecryptedObject | undefined> {
    this.#lines ??= createInterface({ input: createReadStream(this.path), crlfDelay: 0 })[
      Symbol.asyncIterator
    ]();
    while (!this.#ended) {
      const { value, done } = await this.#lines.next();
      if (done) this.#ended = true;
      else {
        const entry = parsed(value);
        if (isDecryptedObject(entry)) return entry;
      }
    }
    return undefined;
  }
}

/** Names of stores, buckets and prefixes have less. */
const longestFirstLine = 16 * 1024;

function firstLine(path: string): string {
  const bytes = Buffer.alloc(longestFirstLine);
  const file = openSync(path, 'r');
  try {
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return bytes.toString('utf8', 0, length).split('\n', 1)[0] ?? '';
  } finally {
    closeSync(file);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isDecryptedObject(value: unknown): value is DecryptedObject {
  const entry = value as Partial<DecryptedObject> | undefined | null;
  const texts = [entry?.key, entry?.etag, entry?.modified, entry?.path];
  return (
    texts.every((text) => typeof text === 'string') &&
    Number.isSafeInteger(entry?.stored) &&
    Number.isSafeInteger(entry?.bytes) &&
    !(entry?.path ?? '').split('/').some((part) => part === '.' || part === '..')
  );
}
