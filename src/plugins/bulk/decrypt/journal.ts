import { closeSync, createReadStream, openSync, readdirSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';

/** Source of the objects; a folder belongs to one source. */
export interface Place {
  readonly store: string;
  readonly bucket: string;
  readonly prefix: string;
}

/** An object whose plaintext is in the folder, complete and verified. */
export interface DecryptedObject {
  readonly key: string;
  /** The store's ETag, unquoted. */
  readonly etag: string;
  /** Stored bytes. */
  readonly stored: number;
  readonly modified: string;
  /** Plaintext bytes. */
  readonly bytes: number;
  /** Relative to the folder, with slashes; ends with a slash for a folder. */
  readonly path: string;
}

const version = 1;
const fileName = /^journal-([1-9]\d{0,8})\.jsonl$/;

/**
 * Records what earlier runs and this run have completed. Each run writes its own file in listing order, so that earlier
 * files can be read in step with the listing, a page at a time.
 */
export class Journal {
  readonly #earlier: readonly JournalFile[];
  readonly #own: number | undefined;

  private constructor(earlier: readonly JournalFile[], own: number | undefined) {
    this.#earlier = earlier;
    this.#own = own;
  }

  /**
   * @param write false: opens existing journals read-only
   * @throws SvcError DECRYPT_FOLDER for a journal of another source
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

  /** Entries of earlier runs for a page of keys; pages must be requested in ascending order. */
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

  /** @param whole this run has seen every object, so the journals of earlier runs can be deleted */
  close(whole: boolean): void {
    for (const file of this.#earlier) file.close();
    if (this.#own === undefined) return;
    closeSync(this.#own);
    if (whole) for (const { path } of this.#earlier) rmSync(path, { force: true });
  }
}

/** The largest key in byte order: the last of the page, unless the store uses an order of its own. */
function lastOf(keys: readonly string[]): Buffer {
  const [last = Buffer.alloc(0)] = keys
    .map((key) => Buffer.from(key))
    .sort((one, other) => other.compare(one));
  return last;
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** Entries of one listing page; within a page, entries are in order of completion. */
const maxUnordered = 1000;

class JournalFile {
  readonly path: string;
  #lines: AsyncIterator<string> | undefined;
  /** Entries read ahead, with keys beyond the pages requested so far. */
  #ahead: DecryptedObject[] = [];
  #ended = false;

  constructor(path: string) {
    this.path = path;
  }

  check(place: Place): void {
    const first = firstLine(this.path);
    const { version: found, ...of } = (parsed(first) ?? {}) as Partial<Place> & { version?: unknown };
    // from a run that was killed before its first write
    if (first === '') return;
    const same = of.store === place.store && of.bucket === place.bucket && of.prefix === place.prefix;
    if (found === version && same) return;
    throw new SvcError('DECRYPT_FOLDER', `${this.path} is from another source or another version of svc`, {
      nextStep: 'Name another folder with --to; one folder holds the objects of one source.',
      exitStatus: exitStatus.config,
    });
  }

  async *until(last: Buffer): AsyncGenerator<DecryptedObject> {
    const behind = ({ key }: DecryptedObject) => Buffer.compare(Buffer.from(key), last) > 0;
    const known = this.#ahead;
    this.#ahead = known.filter(behind);
    yield* known.filter((entry) => !behind(entry));
    while (this.#ahead.length < maxUnordered) {
      const entry = await this.#read();
      if (entry === undefined) return;
      if (behind(entry)) this.#ahead.push(entry);
      else yield entry;
    }
  }

  close(): void {
    void this.#lines?.return?.();
  }

  /** Skips lines that a killed run left incomplete. */
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

/** Store, bucket and prefix always fit. */
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
