import type { KeyFile } from './key-file.ts';
import { noSuchPath, Refusal } from './refusal.ts';
import { TransitKey } from './transit-key.ts';

type Keys = Map<string, TransitKey>;

/** The mounted transit engines and their keys; every change is kept in the file before it is answered. */
export class TransitMounts {
  readonly #mounts = new Map<string, Keys>();
  readonly #file: KeyFile;

  constructor(file: KeyFile) {
    this.#file = file;
    for (const [mount, keys] of Object.entries(file.load())) {
      const read = Object.entries(keys).map(([name, stored]) => [name, new TransitKey(stored)] as const);
      this.#mounts.set(mount, new Map(read));
    }
  }

  names(): string[] {
    return [...this.#mounts.keys()];
  }

  mount(path: string): void {
    if (this.#mounts.has(path)) throw new Refusal(400, `path is already in use at ${path}/`);
    this.#mounts.set(path, new Map());
    this.#save();
  }

  /** Splits a path below a mount. @throws Refusal 404 */
  resolve(path: string): { readonly mount: string; readonly rest: readonly string[] } {
    const mount = this.names().find((name) => path.startsWith(`${name}/`));
    if (mount === undefined) throw noSuchPath();
    return {
      mount,
      rest: path
        .slice(mount.length + 1)
        .split('/')
        .map(decodeURIComponent),
    };
  }

  find(mount: string, name: string): TransitKey | undefined {
    return this.#mounts.get(mount)?.get(name);
  }

  /** @throws Refusal 400, as the engine has it */
  key(mount: string, name: string): TransitKey {
    const key = this.find(mount, name);
    if (key === undefined) throw new Refusal(400, 'encryption key not found');
    return key;
  }

  /** Creates the key unless it is there. */
  create(mount: string, name: string): TransitKey {
    const key = this.find(mount, name) ?? new TransitKey();
    this.#mounts.get(mount)?.set(name, key);
    this.#save();
    return key;
  }

  change(mount: string, name: string, edit: (key: TransitKey) => void): void {
    edit(this.key(mount, name));
    this.#save();
  }

  #save(): void {
    const mounts = [...this.#mounts].map(([mount, keys]) => [mount, Object.fromEntries(keys)]);
    this.#file.save(Object.fromEntries(mounts));
  }
}
