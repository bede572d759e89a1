import { KeyRefusal } from './access.ts';

/** Mount path, as in OpenBao's development server. */
export const kvMount = 'secret';

export const isBelowKv = (path: string): boolean => path.startsWith(`${kvMount}/`);

/** Secrets by name, in memory only. */
export class KvStore {
  readonly #secrets = new Map<string, KvSecret>();

  find(name: string): KvSecret | undefined {
    return this.#secrets.get(name);
  }

  /** Runs `use` on the secret, created if missing; a new secret is kept only if `use` does not throw. */
  change<T>(name: string, use: (secret: KvSecret) => T): T {
    const secret = this.find(name) ?? new KvSecret();
    const result = use(secret);
    this.#secrets.set(name, secret);
    return result;
  }

  /** Forgets all versions. */
  remove(name: string): void {
    this.#secrets.delete(name);
  }

  /** Entries directly in a folder, '' for the whole store; subfolders end with a slash. */
  list(folder: string): string[] {
    const prefix = folder === '' ? '' : `${folder}/`;
    const names = [...this.#secrets.keys()].filter((name) => name.startsWith(prefix));
    const entries = names.map((name) => /^[^/]+\/?/.exec(name.slice(prefix.length))?.[0] ?? '');
    return [...new Set(entries)].sort();
  }
}

export type KvFields = Readonly<Record<string, unknown>> | null;

interface Version {
  readonly fields: KvFields;
  readonly created: string;
  /** Time of the deletion; '' if not deleted. */
  deleted: string;
}

/** A version as the API describes it. */
export interface VersionMetadata {
  readonly version: number;
  readonly created_time: string;
  readonly deletion_time: string;
  readonly destroyed: false;
  readonly custom_metadata: null;
}

const keptVersions = 10;

/** A secret of KV version 2: each write creates a version, and the last ten are kept. */
class KvSecret {
  readonly #versions = new Map<number, Version>();
  #current = 0;

  /**
   * @param expected the required current version, 0 for none; undefined for any
   * @throws KeyRefusal if the current version is another
   */
  write(fields: KvFields, expected?: number): VersionMetadata {
    if (expected !== undefined && expected !== this.#current)
      throw new KeyRefusal(400, 'check-and-set parameter did not match the current version');
    this.#current += 1;
    this.#versions.set(this.#current, { fields, created: now(), deleted: '' });
    this.#versions.delete(this.#current - keptVersions);
    return this.#metadata(this.#current) as VersionMetadata;
  }

  /** @param asked a version, 0 for the current one @returns `fields` is null for a deleted version */
  read(asked: number): { readonly fields: KvFields; readonly metadata: VersionMetadata } | undefined {
    const number = asked === 0 ? this.#current : asked;
    const metadata = this.#metadata(number);
    const version = this.#versions.get(number);
    if (metadata === undefined || version === undefined) return undefined;
    return { fields: version.deleted === '' ? version.fields : null, metadata };
  }

  /** Soft-deletes the current version. */
  deleteCurrent(): void {
    const version = this.#versions.get(this.#current);
    if (version !== undefined && version.deleted === '') version.deleted = now();
  }

  describe(): Readonly<Record<string, unknown>> {
    const numbers = [...this.#versions.keys()];
    const [oldest = 0] = numbers;
    const all = numbers.map((number) => [number, this.#metadata(number)] as const);
    return {
      current_version: this.#current,
      oldest_version: oldest === 1 ? 0 : oldest,
      max_versions: 0,
      cas_required: false,
      delete_version_after: '0s',
      custom_metadata: null,
      created_time: all[0]?.[1]?.created_time,
      updated_time: all.at(-1)?.[1]?.created_time,
      versions: Object.fromEntries(all),
    };
  }

  #metadata(number: number): VersionMetadata | undefined {
    const version = this.#versions.get(number);
    if (version === undefined) return undefined;
    return {
      version: number,
      created_time: version.created,
      deletion_time: version.deleted,
      destroyed: false,
      custom_metadata: null,
    };
  }
}

const now = (): string => new Date().toISOString();
