import type { RunningMode } from '../bed.ts';
import { call, patience } from '../call.ts';
import type { Choices } from '../choices.ts';
import { shown } from '../judge.ts';
import type { CaseMind } from '../mind.ts';
import { marker, plaintextOf } from '../plaintext.ts';
import { rawSend } from '../raw-send.ts';
import { type Base, baseRequest, bytesOf } from './caller-request.ts';
import { type Meaning, type MutationTargets, smuggledKey } from './mutation.ts';
import { mutations } from './mutations.ts';

export interface CallerCaseParts {
  readonly bucket: string;
  readonly otherBucket: string;
  readonly choices: Choices;
  readonly mode: RunningMode;
  readonly minds: readonly CaseMind[];
}

export interface CallerCase {
  readonly steps: readonly string[];
  readonly wrong: readonly string[];
  readonly requests: number;
}

/** After this a mutated request has said all, and may be one that the proxy waits for more of. */
const quietMs = 400;
const readable = 'mine/a b';
const otherKey = 'secret';
const hiddenKey = 'hidden';
/** What a request hidden behind another names; nothing else does. */
const hidden = [hiddenKey, smuggledKey];

/**
 * An honest store and a caller who is not. With keys, what happens is what the signature covers, or nothing: the same
 * bucket, key, operation, headers and bytes. Without keys every caller may do everything, so that only what could be
 * read in two ways must not be read in the second: what a mutation may come to mean is said beside it.
 */
export async function runCallerCase(parts: CallerCaseParts): Promise<CallerCase> {
  const attacker = new Attacker(parts);
  await attacker.prepare();
  for (let count = parts.choices.between(8, 24); count > 0 && !attacker.blurred; count--)
    await attacker.attack();
  await attacker.finish();
  return attacker;
}

class Attacker implements CallerCase {
  readonly steps: string[] = [];
  readonly wrong: string[] = [];
  requests = 0;
  readonly #parts: CallerCaseParts;
  readonly #objects = new Map<string, Buffer>();
  #attacks = 0;
  /**
   * What the proxy may yet do for earlier attacks, whose connections were left without waiting for it: each writes to a
   * key of its own, which no later one names.
   */
  readonly #earlier = new Set<string>();
  /** What it may yet do cannot be told from what the next attack does. */
  blurred = false;
  #bodies = 0;

  constructor(parts: CallerCaseParts) {
    this.#parts = parts;
  }

  async prepare(): Promise<void> {
    const { bucket, otherBucket } = this.#parts;
    const all: [string, string][] = [
      [bucket, readable],
      [bucket, otherKey],
      [otherBucket, otherKey],
      [otherBucket, readable],
      [bucket, hiddenKey],
      [otherBucket, hiddenKey],
    ];
    for (const [home, key] of all) {
      const body = this.#body();
      this.#objects.set(`${home}/${key}`, body);
      await this.#send(home, 'PUT', key, body);
    }
    this.requests += all.length;
    for (const mind of this.#parts.minds) mind.requests.length = 0;
  }

  #body(): Buffer {
    return plaintextOf(
      `${this.#parts.bucket} caller ${++this.#bodies}`,
      this.#parts.choices.between(40, 400),
    );
  }

  async #send(bucket: string, method: string, key: string, body?: Buffer) {
    const wish = { method, bucket, key, ...(body && { body }) };
    let outcome = await call(this.#parts.mode, wish);
    for (let again = 0; again < 3 && (outcome.status === 0 || outcome.status === 503); again++)
      outcome = await call(this.#parts.mode, wish);
    return outcome;
  }

  async attack(): Promise<void> {
    const { choices, mode, bucket, otherBucket } = this.#parts;
    const { host } = new URL(mode.proxy.url);
    const around: MutationTargets = { bucket, otherBucket, otherKey, hiddenKey, host };
    const writable = `mine/new ${++this.#attacks}`;
    const earlier = choices.chance(0.5) ? this.#body() : undefined;
    const base = baseRequest(mode, choices, bucket, { readable, writable }, this.#body());
    const writes = base.method === 'PUT' || base.method === 'DELETE';
    if (writes && earlier) await this.#send(bucket, 'PUT', writable, earlier);
    const request = {
      ...base.request,
      headers: base.request.headers.map((header): [string, string] => [...header]),
    };
    const allowed: Meaning[] = [];
    const names: string[] = [];
    for (
      let count = choices.weighted([
        [3, 0],
        [77, 1],
        [15, 2],
        [5, 3],
      ]);
      count > 0;
      count--
    ) {
      const name = choices.pick(Object.keys(mutations));
      const may = mutations[name]?.(request, choices, around);
      if (may === undefined) continue;
      allowed.push(may);
      names.push(name);
    }
    const bytes = bytesOf(request);
    this.steps.push(
      `${mode.name}: ${base.method} ${base.key} with ${names.join(', ') || 'nothing'}: ${JSON.stringify(bytes.subarray(0, 1500).toString('latin1'))}`,
    );
    for (const mind of this.#parts.minds) mind.requests.length = 0;
    const { text, status, answers, hung } = await rawSend(mode.proxy.url, bytes, {
      quietMs: names.length === 0 ? patience : quietMs,
      patience,
    });
    this.requests++;
    this.steps.push(`   -> ${status} (${answers} answers)`);
    if (hung) this.wrong.push(`no end of the connection: ${names}`);
    const spoilt = status === 503 || (!mode.keys && status === 404);
    if (names.length === 0 && (status < 200 || status > 299) && !spoilt)
      this.wrong.push(`a right request is answered ${status}: ${text.slice(0, 300)}`);
    await this.#judge(base, names, allowed, text, earlier);
    this.#leave(base, names, allowed, status);
  }

  #leave(base: Base, names: readonly string[], allowed: readonly Meaning[], status: number): void {
    const { mode, bucket, otherBucket } = this.#parts;
    if (base.key !== readable || status === 0) this.#earlier.add(`${bucket} ${base.key}`);
    if (mode.keys || !allowed.includes('anything of the case')) return;
    for (const home of [bucket, otherBucket]) for (const key of hidden) this.#earlier.add(`${home} ${key}`);
    this.blurred = status === 0 || names.length > 1;
  }

  async #judge(
    base: Base,
    names: readonly string[],
    allowed: readonly Meaning[],
    text: string,
    earlier: Buffer | undefined,
  ): Promise<void> {
    const { mode, bucket, otherBucket, minds } = this.#parts;
    const label = names.join(', ');
    const acted = minds.flatMap((mind, at) =>
      mind.requests.map((line) => `${[bucket, otherBucket][at]} ${line}`),
    );
    if (acted.length > 0) this.steps.push(`   store: ${acted.join(' | ')}`);
    const free = !mode.keys && allowed.includes('anything of the case');
    if (!free) {
      const targets = [...this.#earlier, `${bucket} ${base.key}`, `${bucket} ${readable}`];
      for (const line of acted) {
        const [home, method, ...rest] = line.split(' ');
        if (!targets.includes(`${home} ${rest.join(' ')}`) && !isFact(line))
          this.wrong.push(`${label}: the store was asked ${line}`);
        else if (mode.keys && !this.#earlier.has(`${home} ${rest.join(' ')}`) && !mayAsk(base, method ?? ''))
          this.wrong.push(`${label}: a ${base.method} became ${line}`);
      }
      this.#judgeText(label, text);
    }
    if (mode.keys) this.#judgeHeaders(base, label);
    if (base.method === 'PUT' || base.method === 'DELETE')
      await this.#judgeWritten(base, label, free, text, earlier);
  }

  /** Only what was asked for comes back. */
  #judgeText(label: string, text: string): void {
    const { bucket } = this.#parts;
    const own = this.#objects.get(`${bucket}/${readable}`);
    for (const line of text.match(new RegExp(`${marker} [0-9a-f]{13}`, 'g')) ?? [])
      if (!own?.includes(line)) this.wrong.push(`${label}: another object's bytes came back: ${line}`);
  }

  /** Headers that act reach the store only under a signature. */
  #judgeHeaders(base: Base, label: string): void {
    for (const mind of this.#parts.minds)
      for (const head of mind.heads.splice(0)) {
        const foreign =
          /^(x-amz-(?:acl|copy-source|metadata-directive|storage-class|tagging|website-[\w-]+|grant-[\w-]+|object-lock-[\w-]+|write-offset-bytes|rename-source|bypass-[\w-]+|security-token)|x_amz_acl|x-amz-meta-svc_\w+):/im.exec(
            head,
          )?.[1];
        if (foreign !== undefined)
          this.wrong.push(`${label}: ${foreign} went to the store unsigned with ${base.method}`);
      }
  }

  /** What is stored is what was signed, or what was there before. */
  async #judgeWritten(
    base: Base,
    label: string,
    free: boolean,
    text: string,
    earlier: Buffer | undefined,
  ): Promise<void> {
    const { bucket, mode } = this.#parts;
    const { status, body } = await this.#send(bucket, 'GET', base.key);
    const now = status === 404 ? undefined : body;
    this.requests++;
    if (earlier === undefined ? now === undefined : now !== undefined && earlier.equals(now)) return;
    if (now === undefined ? base.method === 'DELETE' : base.payload?.equals(now)) return;
    if (
      free ||
      (!mode.keys && label !== '') ||
      (base.method === 'PUT' && !base.bodyIsSigned && now !== undefined)
    )
      return;
    this.wrong.push(
      `${label}: ${base.method} left ${now === undefined ? 'nothing' : shown(now)} after ${text.slice(0, 60)}`,
    );
  }

  /** With keys nothing else was touched. */
  async finish(): Promise<void> {
    const { mode } = this.#parts;
    for (const mind of this.#parts.minds) for (const seen of new Set(mind.seen)) this.wrong.push(seen);
    if (!mode.keys) return;
    for (const [name, body] of this.#objects) {
      const slash = name.indexOf('/');
      const outcome = await this.#send(name.slice(0, slash), 'GET', name.slice(slash + 1));
      this.requests++;
      if (!outcome.body.equals(body))
        this.wrong.push(`${name} was changed: ${outcome.status} ${shown(outcome.body)}`);
    }
  }
}

/** What the proxy asks about a bucket for itself. */
const isFact = (line: string) => / GET $/.test(line) || / (GET|PUT|DELETE|HEAD) \.svc\//.test(line);

const mayAsk = ({ method }: Base, asked: string): boolean => {
  // a preflight needs no signature, and changes nothing
  if (asked === 'OPTIONS' || asked === 'HEAD' || asked === 'GET') return true;
  return asked === method;
};
