import { formsOf, type Secret } from './search.ts';

/** A part of a secret, in one of its forms, that stands somewhere. */
export interface Fragment {
  readonly secret: string;
  readonly form: string;
  /** Where it begins in what was searched. */
  readonly at: number;
  readonly length: number;
}

export interface FragmentSearch {
  /** Every part of a secret that is long enough. @param bytes begin at a multiple of four in memory */
  in(bytes: Buffer): Fragment[];
}

interface Place {
  readonly secret: string;
  readonly form: Buffer;
  readonly formName: string;
  readonly at: number;
}

/** Shorter parts say too little of a random value, and might be chance. */
const shortest = 16;
const window = 8;
const step = 4;
const slots = 1 << 22;

/**
 * Looks for parts of secrets, because memory that was freed keeps the middle of what it held. Fast enough for all
 * memory of a process: at every fourth byte, whether the next eight are any eight of a secret.
 */
export function fragmentSearch(secrets: readonly Secret[]): FragmentSearch {
  const places = new Map<bigint, Place>();
  const filter = new Uint32Array(slots >> 5);
  for (const { name: secret, bytes } of secrets)
    for (const { name: formName, bytes: form } of formsOf(bytes))
      for (let at = 0; at + window <= form.length; at++) {
        places.set(form.readBigUInt64LE(at), { secret, form, formName, at });
        const slot = slotOf(form.readInt32LE(at));
        filter[slot >> 5] = (filter[slot >> 5] as number) | (1 << (slot & 31));
      }
  return {
    in(bytes) {
      const found: Fragment[] = [];
      const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
      let next = 0;
      for (let index = 0; index + 1 < words.length; index++) {
        const slot = slotOf(words[index] as number);
        if ((((filter[slot >> 5] as number) >>> (slot & 31)) & 1) === 0 || index * step < next) continue;
        const place = places.get(bytes.readBigUInt64LE(index * step));
        const fragment = place && grown(bytes, index * step, place);
        if (fragment === undefined || fragment.length < Math.min(shortest, place?.form.length ?? 0)) continue;
        found.push(fragment);
        next = fragment.at + fragment.length;
      }
      return found;
    },
  };
}

const slotOf = (word: number): number => Math.imul(word, 0x9e3779b1) >>> 10;

/** As far as it goes on either side. */
function grown(bytes: Buffer, at: number, { secret, form, formName, at: formAt }: Place): Fragment {
  let before = 0;
  while (before < Math.min(at, formAt) && bytes[at - before - 1] === form[formAt - before - 1]) before++;
  let after = window;
  while (
    at + after < bytes.length &&
    formAt + after < form.length &&
    bytes[at + after] === form[formAt + after]
  )
    after++;
  return { secret, form: formName, at: at - before, length: before + after };
}
