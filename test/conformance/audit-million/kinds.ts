/** What objects of a bucket that has seen something are like, and how many of a thousand are so. */
export const kinds = {
  /** Written through the proxy, under the first version of the key. */
  first: 500,
  /** Written through it in parts, under that version, too. */
  parts: 50,
  /** Written through it after the key was rotated. */
  second: 200,
  /** Written past the proxy. */
  plain: 150,
  /** Encrypted by a client of its own, which svc knows nothing of. */
  foreign: 50,
  /** Says that svc has encrypted it, and nothing else. */
  unreadable: 50,
} as const;

export type Kind = keyof typeof kinds;

const thousand = (Object.keys(kinds) as Kind[]).flatMap((kind) => Array<Kind>(kinds[kind]).fill(kind));

/** Spread evenly. @param index from 0 */
export function kindOf(index: number): Kind {
  // 387 and 1000 have no divisor in common, so that each of a thousand comes once
  return thousand[(index * 387) % thousand.length] as Kind;
}

export const objectsOfAFolder = 1_000;

/** A thousand objects a folder, and a hundred such folders a folder. */
export function keyOf(index: number): string {
  const folder = Math.floor(index / objectsOfAFolder);
  const [outer, inner] = [Math.floor(folder / 100), folder % 100];
  return `${digits(outer, 2)}/${digits(inner, 2)}/object ${digits(index % objectsOfAFolder, 3)}`;
}

/** The prefix of the first hundred thousand objects. */
export const firstTenth = '00/';

const digits = (number: number, count: number) => String(number).padStart(count, '0');
