import { Choices } from './choices.ts';
import { markers } from './plaintext.ts';
import type { StoreMind } from './store/hostile-store.ts';
import { type Lie, lies, type Situation } from './store/lies.ts';
import type { StoredBucket, StoreReply, StoreRequest } from './store/model.ts';
import { type WirePlan, wholeBody } from './store/wire-plan.ts';
import type { World } from './world.ts';

/** How much of what the store says is a lie. */
export type Honesty =
  | { readonly kind: 'honest' }
  /** The `at`-th answer alone. */
  | { readonly kind: 'once'; readonly at: number }
  | { readonly kind: 'often'; readonly rate: number }
  /** One and the same lie wherever it can be told. */
  | { readonly kind: 'stubborn'; readonly lie: string };

export interface MindParts {
  /** What its choices follow from. */
  readonly name: string;
  readonly bucket: StoredBucket;
  readonly world: World;
  readonly keepHeads?: boolean;
}

const names = Object.keys(lies);
/** Each of these alone makes an object one of the proxy's. */
const ofEnvelope = /^x-amz-meta-svc-(encrypted|wrapped-dek|algorithm|key-name|key-version|binding)$/i;
const hasEnvelope = ({ headers }: StoreReply) => headers.some(([name]) => ofEnvelope.test(name));

/** The store's side of one case: what it lies, what it has seen of plaintext, what it gave out without envelope. */
export class CaseMind implements StoreMind {
  honesty: Honesty = { kind: 'honest' };
  /** Falls silent instead of answering: the caller must have a patience of its own. */
  silentAt = -1;
  /** Since somebody last took them. */
  readonly told: string[] = [];
  readonly seen: string[] = [];
  readonly requests: string[] = [];
  /** Heads that came, where somebody takes them. */
  readonly heads: string[] = [];
  /** Digests that must not arrive. */
  readonly secrets = new Set<string>();
  readonly #parts: MindParts;
  readonly #earlier: Situation['earlier'][number][] = [];
  readonly #counts = new Map<string, number>();
  #answers = 0;

  constructor(parts: MindParts) {
    this.#parts = parts;
  }

  /** From now on. */
  be(honesty: Honesty): void {
    this.honesty = honesty;
    this.#answers = 0;
  }

  received(head: string, body: Buffer): void {
    if (this.#parts.keepHeads) this.heads.push(head);
    for (const word of markers) {
      if (head.includes(word)) this.seen.push(`plaintext in a head: ${head.split('\r\n', 1)[0]}`);
      if (body.includes(word)) this.seen.push(`plaintext in a body: ${head.split('\r\n', 1)[0]}`);
    }
    for (const secret of this.secrets)
      if (head.includes(secret)) this.seen.push(`a digest of plaintext: ${head.split('\r\n', 1)[0]}`);
  }

  answer(request: StoreRequest, honest: () => StoreReply): WirePlan {
    const { world } = this.#parts;
    this.requests.push(`${request.method} ${request.key}`);
    const plan = this.#plan(request, honest);
    const { reply } = plan;
    if (
      request.method === 'GET' &&
      !hasEnvelope(reply) &&
      !request.key.startsWith('.svc/') &&
      request.key !== ''
    ) {
      const body = wholeBody(plan);
      if (body !== undefined) world.gaveBare(request.key, body);
      if (reply.status === 416 || plan.lengths !== undefined || plan.framing !== undefined)
        world.gaveBare(request.key, reply.body);
    }
    if (request.method === 'HEAD' && !hasEnvelope(reply) && !world.bare.has(request.key))
      world.bare.set(request.key, []);
    return plan;
  }

  #plan(request: StoreRequest, honest: () => StoreReply): WirePlan {
    const at = this.#answers++;
    if (at === this.silentAt) {
      this.told.push(`silent at ${request.method} ${request.key}`);
      return { reply: { status: 200, headers: [], body: Buffer.alloc(0) }, silent: true };
    }
    const choices = this.#choicesFor(request);
    if (!this.#lies(choices, at)) return { reply: this.#true(request, honest) };
    return this.#lie(choices, request, honest) ?? { reply: this.#true(request, honest) };
  }

  #lies(choices: Choices, at: number): boolean {
    const { honesty } = this;
    if (honesty.kind === 'once') return at === honesty.at;
    return honesty.kind === 'stubborn' || (honesty.kind === 'often' && choices.chance(honesty.rate));
  }

  #lie(choices: Choices, request: StoreRequest, honest: () => StoreReply): WirePlan | undefined {
    const { bucket } = this.#parts;
    const { honesty } = this;
    const undo = rememberBucket(bucket);
    const reply = honest();
    const situation = { request, reply, bucket, earlier: this.#earlier };
    for (let tries = 0; tries < 6; tries++) {
      const name = honesty.kind === 'stubborn' ? honesty.lie : choices.pick(names);
      const plan = (lies[name] as Lie)(choices, situation);
      if (plan === undefined) {
        if (honesty.kind === 'stubborn') break;
        continue;
      }
      if (name === 'done without doing') undo();
      this.told.push(
        `${name}: ${request.method} ${request.key}${request.query.size > 0 ? `?${[...request.query.keys()]}` : ''}`,
      );
      return plan;
    }
    this.#remember(request, reply);
    return { reply };
  }

  #true(request: StoreRequest, honest: () => StoreReply): StoreReply {
    const reply = honest();
    this.#remember(request, reply);
    return reply;
  }

  #remember(request: StoreRequest, reply: StoreReply): void {
    if (this.#earlier.length < 40) this.#earlier.push({ request, reply });
  }

  /** The order in which requests come must not matter, nor what is random in their names. */
  #choicesFor({ method, key, query }: StoreRequest): Choices {
    const kind = `${method} ${key.startsWith('.svc/') ? key.slice(0, 8) : key} ${[...query.keys()]}`;
    const count = this.#counts.get(kind) ?? 0;
    this.#counts.set(kind, count + 1);
    return new Choices(`${this.#parts.name} ${kind} ${count}`);
  }
}

/** @returns what puts everything back that one request changes */
function rememberBucket(bucket: StoredBucket): () => void {
  const objects = new Map(bucket.objects);
  const parts = [...bucket.uploads].map(([id, upload]) => [id, upload, new Map(upload.parts)] as const);
  return () => {
    bucket.objects.clear();
    for (const [key, version] of objects) bucket.objects.set(key, version);
    bucket.uploads.clear();
    for (const [id, upload, kept] of parts) {
      upload.parts.clear();
      for (const [number, part] of kept) upload.parts.set(number, part);
      bucket.uploads.set(id, upload);
    }
  };
}
