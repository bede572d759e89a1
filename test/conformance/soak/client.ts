import type { S3Client } from '@aws-sdk/client-s3';
import { type Held, sizeOf } from './holdings.ts';
import { Random } from './random.ts';
import type { Tally } from './tally.ts';

const keysEach = 10;

/** One of the clients: it alone writes its keys, and so knows what they must hold. */
export class SoakClient {
  readonly held = new Map<string, Held>();
  /** Keys of which nobody knows what they hold: a write of them failed. They are not used again. */
  readonly retired = new Set<string>();
  readonly random: Random;
  readonly s3: S3Client;
  readonly tally: Tally;
  readonly prefix: string;
  #serial = 0;

  constructor(number: number, seed: number, s3: S3Client, tally: Tally) {
    this.prefix = `client ${number}/`;
    this.random = new Random(`${seed} ${number}`);
    this.s3 = s3;
    this.tally = tally;
  }

  /** Any of its keys, whether there is an object or not. */
  anyKey(): string {
    const slot = this.random.below(keysEach);
    let key = this.#keyOf(slot, 0);
    for (let generation = 1; this.retired.has(key); generation += 1) key = this.#keyOf(slot, generation);
    return key;
  }

  #keyOf(slot: number, generation: number): string {
    return `${this.prefix}ä+${slot}${generation === 0 ? '' : `.${generation}`}.bin`;
  }

  /** A key with an object, where there is one. */
  heldKey(): string | undefined {
    const keys = [...this.held.keys()];
    return keys[this.random.below(keys.length)];
  }

  /** A name that no content has had before. */
  freshName(): string {
    return `${this.prefix}${this.#serial++}`;
  }

  /** After a write has succeeded. */
  wrote(key: string, held: Held): void {
    this.held.set(key, held);
    this.tally.bytes += sizeOf(held.content);
  }

  /** After a write has failed: it may still have been stored, or be stored later. */
  retire(key: string): void {
    this.held.delete(key);
    this.retired.add(key);
  }
}
