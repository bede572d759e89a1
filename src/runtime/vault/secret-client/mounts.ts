import { JsonView } from '../../../core/json-bytes/json-view.ts';
import { namesDeadToken } from '../../../core/vault/answer.ts';
import { vaultPath } from '../../../core/vault/path.ts';
import { VaultError } from '../errors.ts';
import type { KeyServer, Question, Reply } from './key-server.ts';
import { refusalOf, wordsOf } from './refusal.ts';
import { guessedPlaces, placeIn, type SecretPlace } from './secret-path.ts';

interface Mount {
  readonly segments: readonly string[];
  readonly kvVersion: 1 | 2;
}

/** Finds out which store holds a path, and remembers it. */
export class Mounts {
  readonly #server: KeyServer;
  readonly #token: () => Uint8Array;
  readonly #mounts: Mount[] = [];
  readonly #asking = new Map<string, Promise<unknown>>();
  /** The server, or a broker before it, does not have the question. */
  #untold = false;

  constructor(server: KeyServer, token: () => Uint8Array) {
    this.#server = server;
    this.#token = token;
  }

  /**
   * The places to look at, in turn: more than one only where the server does not tell.
   * @throws VaultError of kind `denied` where the token may do nothing there
   */
  async places(segments: readonly string[], signal: AbortSignal): Promise<SecretPlace[]> {
    const known = this.#known(segments);
    if (known !== undefined) return known;
    const [first = ''] = segments;
    const asking = this.#asking.get(first);
    if (asking !== undefined) {
      await asking.catch(() => undefined);
      return this.places(segments, signal);
    }
    const question = this.#ask(segments, signal).finally(() => this.#asking.delete(first));
    this.#asking.set(first, question);
    return placesIn(await question, segments);
  }

  #known(segments: readonly string[]): SecretPlace[] | undefined {
    const mount = this.#mounts.find((one) => isBelow(one, segments));
    return mount !== undefined || this.#untold ? placesIn(mount, segments) : undefined;
  }

  async #ask(segments: readonly string[], signal: AbortSignal): Promise<Mount | undefined> {
    const path = vaultPath('sys/internal/ui/mounts', ...segments);
    const question: Question = { method: 'GET', path, token: this.#token };
    const mount = await this.#server.ask(question, signal, (reply) => {
      if (reply.status === 200) return mountFrom(reply, segments);
      this.#untold = reply.status === 404 || reply.status === 405;
      if (this.#untold) return undefined;
      const errors = wordsOf(reply, this.#token());
      throw reply.status === 403 && !namesDeadToken(errors)
        ? notGranted(segments, reply)
        : refusalOf(question, reply.status, errors);
    });
    if (mount === undefined || !isBelow(mount, segments)) return undefined;
    this.#mounts.push(mount);
    return mount;
  }
}

const placesIn = (mount: Mount | undefined, segments: readonly string[]): SecretPlace[] =>
  mount === undefined ? guessedPlaces(segments) : [placeIn(mount.segments, mount.kvVersion, segments)];

const isBelow = (mount: Mount, segments: readonly string[]): boolean =>
  mount.segments.length < segments.length && mount.segments.every((one, index) => one === segments[index]);

function mountFrom({ body }: Reply, segments: readonly string[]): Mount | undefined {
  const view = new JsonView(body.bytes);
  const path = view.string('data', 'path');
  const type = view.string('data', 'type');
  if (path === undefined || type === undefined) return undefined;
  if (!['kv', 'generic', 'cubbyhole'].includes(type)) throw otherEngine(path, type, segments);
  const version = view.string('data', 'options', 'version') ?? '1';
  return { segments: path.replace(/\/+$/, '').split('/'), kvVersion: version === '2' ? 2 : 1 };
}

function otherEngine(mount: string, type: string, segments: readonly string[]): VaultError {
  const path = segments.join('/');
  const store = path.startsWith(mount) ? mount : 'its store';
  const named = /^[a-z]+$/.test(type) ? `type ${type}` : 'another type';
  return new VaultError('not-found', `${path} is no key/value secret: ${store} is of ${named}`, {
    path,
    nextStep: 'Name paths of key/value stores only.',
  });
}

function notGranted(segments: readonly string[], { status }: Reply): VaultError {
  const path = segments.join('/');
  const [mount, ...name] = segments;
  return new VaultError('denied', `The key server refuses read on ${path}, or has no such store`, {
    status,
    path,
    nextStep: `Grant the capability "read" on ${path} (in KV version 2: ${[mount, 'data', ...name].join('/')}) in a policy of this token or role, and check that the path exists.`,
  });
}
