import type { RunningMode } from '../bed.ts';
import { type Call, type CallOutcome, call } from '../call.ts';
import type { Choices } from '../choices.ts';
import { judgeRead, shown } from '../judge.ts';
import type { CaseMind, Honesty } from '../mind.ts';
import { plaintextOf, tracesOf } from '../plaintext.ts';
import { edits } from '../store/edits.ts';
import { lies } from '../store/lies.ts';
import type { StoredBucket } from '../store/model.ts';
import type { World } from '../world.ts';
import { readHonestly, reads } from './reads.ts';
import { writes } from './writes.ts';

export interface CaseParts {
  readonly bucket: string;
  readonly choices: Choices;
  /** Those that understand each other's objects; the first is the case's own. */
  readonly modes: readonly RunningMode[];
  readonly mind: CaseMind;
  readonly stored: StoredBucket;
  readonly world: World;
}

/** A case while it runs. */
export class StoreCase {
  readonly parts: CaseParts;
  readonly keys = ['a', 'b/c ü+%', 'd'];
  /** What was done, one step a line. */
  readonly steps: string[] = [];
  readonly wrong: string[] = [];
  impatient = false;
  /** Of the caller, each of which was judged. */
  requests = 0;
  #bodies = 0;

  constructor(parts: CaseParts) {
    this.parts = parts;
  }

  get choices(): Choices {
    return this.parts.choices;
  }

  get world(): World {
    return this.parts.world;
  }

  /** Mostly the case's own, now and then another that shares its keys. */
  mode(): RunningMode {
    const { modes, choices } = this.parts;
    return choices.chance(0.8) ? (modes[0] as RunningMode) : choices.pick(modes);
  }

  body(size = this.#size()): Buffer {
    const body = plaintextOf(`${this.parts.bucket} ${++this.#bodies}`, size);
    for (const trace of tracesOf(body)) this.parts.mind.secrets.add(trace);
    return body;
  }

  #size(): number {
    const { choices } = this;
    return choices.weighted([
      [30, choices.pick([0, 1, 9, 27, 28, 29, 32, 64])],
      [64, choices.between(0, 4000)],
      [5, choices.between(60_000, 140_000)],
      [1, choices.between(1_049_000, 1_200_000)],
    ]);
  }

  async send(mode: RunningMode, wish: Omit<Call, 'bucket'>): Promise<CallOutcome> {
    this.requests++;
    const outcome = await this.#calls(mode, wish);
    this.steps.push(
      `${mode.name}: ${wish.method} ${wish.key}${wish.query ? `?${wish.query}` : ''} ${JSON.stringify(wish.headers ?? {})} -> ${outcome.status} ${outcome.complete ? '' : 'broken '}${shown(outcome.body)}`,
    );
    if (outcome.hung && !this.impatient)
      this.fail(`${wish.method} ${wish.key}: no end of the answer in time`);
    return outcome;
  }

  /** An honest store answers where a connection that a lie has spoilt does not: clients try again, and so does this. */
  async #calls(mode: RunningMode, wish: Omit<Call, 'bucket'>): Promise<CallOutcome> {
    const whole = { bucket: this.parts.bucket, ...wish, ...(this.impatient && { patience: 250 }) };
    let outcome = await call(mode, whole);
    for (
      let again = 0;
      again < 3 && this.parts.mind.honesty.kind === 'honest' && wish.leaveAfter === undefined;
      again++
    ) {
      if (outcome.status !== 503 && outcome.status !== 0) break;
      await new Promise((resolve) => setTimeout(resolve, 30));
      outcome = await call(mode, whole);
    }
    return outcome;
  }

  fail(what: string | undefined): void {
    if (what !== undefined) this.wrong.push(what);
  }

  judge(mode: RunningMode, wish: Parameters<typeof judgeRead>[2], outcome: CallOutcome): void {
    if (!(outcome.hung && this.impatient)) this.fail(judgeRead(this.world, mode, wish, outcome));
  }

  /** From now on what is stored under the key is the store's word alone. */
  uncertain(key: string): void {
    this.world.certain.delete(key);
  }
}

const honestyOf = (choices: Choices): Honesty =>
  choices.weighted<Honesty>([
    [6, { kind: 'honest' }],
    [40, { kind: 'once', at: choices.below(4) }],
    [18, { kind: 'often', rate: choices.pick([0.15, 0.4, 0.8]) }],
    [36, { kind: 'stubborn', lie: choices.pick(Object.keys(lies)) }],
  ]);

/** Objects are written; the store lies, each time otherwise, or its disks are changed; then it is honest again and all is read. */
export async function runStoreCase(parts: CaseParts): Promise<StoreCase> {
  const { choices, mind, world } = parts;
  const one = new StoreCase(parts);
  for (let count = choices.between(1, 3); count > 0; count--) await choices.weighted(writes)(one);
  for (let count = choices.between(4, 14); count > 0; count--) {
    if (choices.chance(0.07)) editStored(one);
    await attempt(one);
  }
  for (const key of one.keys) if (world.candidates(key).length > 0) await readHonestly(one, key);
  for (const seen of new Set(mind.seen)) one.fail(seen);
  return one;
}

async function attempt(one: StoreCase): Promise<void> {
  const { choices, parts } = one;
  const { mind } = parts;
  const honesty = honestyOf(choices);
  const step = choices.chance(0.8) ? choices.weighted(reads) : choices.weighted(writes);
  mind.be(honesty);
  one.impatient = choices.chance(0.01);
  if (one.impatient) mind.silentAt = choices.below(3);
  one.steps.push(`-- ${JSON.stringify(honesty)}${one.impatient ? ', silent' : ''}`);
  await step(one);
  one.steps.push(...mind.told.splice(0).map((lie) => `   lie: ${lie}`));
  mind.be({ kind: 'honest' });
  mind.silentAt = -1;
  one.impatient = false;
}

/** What the store does to its disks stays as it is. Bytes that lose their envelope may be given out as they are. */
function editStored(one: StoreCase): void {
  const { choices, parts, world } = one;
  const name = choices.pick(Object.keys(edits));
  const edited = edits[name]?.(parts.stored, choices) ?? [];
  one.steps.push(`-- edit: ${name} of ${edited}`);
  for (const key of edited) {
    one.uncertain(key);
    const version = parts.stored.objects.get(key);
    if (version && version.headers['x-amz-meta-svc-encrypted'] === undefined)
      world.gaveBare(key, version.body);
  }
}
