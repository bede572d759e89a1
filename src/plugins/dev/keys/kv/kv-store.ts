import { KvSecret } from './kv-secret.ts';

/** Where it is mounted, as in a development server of OpenBao. */
export const kvMount = 'secret';

export const isBelowKv = (path: string): boolean => path.startsWith(`${kvMount}/`);

/** Secrets by name, in memory only. */
export class KvStore {
  readonly #secrets = new Map<string, KvSecret>();

  find(name: string): KvSecret | undefined {
    return this.#secrets.get(name);
  }

  /** The secret, made where there was none; it stays only if `use` does not throw. */
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

  /** What lies directly in a folder, '' for the whole store; folders end with a slash. */
  list(folder: string): string[] {
    const prefix = folder === '' ? '' : `${folder}/`;
    const names = [...this.#secrets.keys()].filter((name) => name.startsWith(prefix));
    const entries = names.map((name) => /^[^/]+\/?/.exec(name.slice(prefix.length))?.[0] ?? '');
    return [...new Set(entries)].sort();
  }
}
