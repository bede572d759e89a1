import type { Mode } from './bed.ts';
import type { CallOutcome } from './call.ts';
import { marker } from './plaintext.ts';
import type { World } from './world.ts';

/** What was asked of a read. */
export interface ReadWish {
  readonly key: string;
  /** Value of Range. */
  readonly range?: string | undefined;
  readonly partNumber?: number | undefined;
}

/** @returns what is wrong with the outcome of a read, or undefined */
export function judgeRead(
  world: World,
  mode: Mode,
  wish: ReadWish,
  outcome: CallOutcome,
): string | undefined {
  const { status, headers, body } = outcome;
  if (outcome.hung) return 'no end of the answer in time';
  if (status === 416) return judgeUnsatisfied(world, mode, wish, outcome);
  if (status === 0 || status >= 300)
    return body.includes(marker) ? `plaintext in an answer ${status}` : undefined;
  if (status !== 200 && status !== 206) return `status ${status}`;
  if (headers['x-amz-meta-svc-encrypted'] === undefined) return judgeBare(world, mode, wish, outcome);
  return status === 200 ? judgeWhole(world, mode, wish, outcome) : judgePart(world, mode, wish, outcome);
}

function judgeWhole(
  world: World,
  mode: Mode,
  { key }: ReadWish,
  { body, complete, headers }: CallOutcome,
): string | undefined {
  const candidates = world.candidates(key);
  if (headers['content-range'] !== undefined) return 'a Content-Range in a 200';
  if (complete) return candidates.some((one) => one.equals(body)) ? undefined : `other bytes: ${shown(body)}`;
  if (Number(headers['content-length']) <= body.length) return 'a body that broke and looks whole';
  // how large an object is that was put at once is the store's word: what it calls large is sent as it arrives
  const told = Number(headers['content-length']);
  if (
    !mode.strict &&
    [told, ...candidates.map(({ length }) => length)].some((size) => size > mode.verifyBuffer)
  )
    return undefined;
  return candidates.some((one) => one.subarray(0, body.length).equals(body))
    ? undefined
    : `unauthenticated bytes before the break: ${shown(body)}`;
}

function judgePart(
  world: World,
  mode: Mode,
  wish: ReadWish,
  { body, complete, headers }: CallOutcome,
): string | undefined {
  const told = headers['content-range'] ?? '';
  const [, start = NaN, end = NaN, size = NaN] = (/^bytes (\d+)-(\d+)\/(\d+)$/.exec(told) ?? []).map(Number);
  if (Number.isNaN(size)) return `a 206 with Content-Range ${told}`;
  if (Number(headers['content-length']) !== end - start + 1)
    return `Content-Range ${told} with Content-Length ${headers['content-length']}`;
  const right = world
    .candidates(wish.key)
    .filter(
      (one) =>
        one.length === size && (wish.range === undefined || asked(wish.range, size) === `${start}-${end}`),
    );
  if (!complete) {
    if (body.length > end - start) return 'a range that broke and looks whole';
    if (!mode.strict && size > mode.verifyBuffer) return undefined;
    if (body.length === 0) return undefined;
  }
  const found = right.some((one) => one.subarray(start, start + body.length).equals(body));
  if (found && (!complete || body.length === end - start + 1)) return undefined;
  return `other bytes in range ${told} of ${wish.range ?? `part ${wish.partNumber}`}: ${shown(body)}`;
}

/** What RFC 9110 makes of one range. */
export function asked(range: string, size: number): string | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '')
    return Number(to) === 0 || size === 0 ? undefined : `${Math.max(0, size - Number(to))}-${size - 1}`;
  if (Number(from) >= size) return undefined;
  return `${Number(from)}-${to === '' ? size - 1 : Math.min(Number(to), size - 1)}`;
}

/** Clients that go on with a broken transfer take the size in a 416 for that of the object. */
function judgeUnsatisfied(
  world: World,
  mode: Mode,
  { key, range, partNumber }: ReadWish,
  { headers, body }: CallOutcome,
): string | undefined {
  if (body.includes(marker)) return 'plaintext in an answer 416';
  const told = headers['content-range'];
  const named = /<ActualObjectSize>(\d+)</.exec(body.toString())?.[1];
  const sizes = [
    ...(told === undefined ? [] : [/^bytes \*\/(\d+)$/.exec(told)?.[1] ?? 'none']),
    ...(named === undefined ? [] : [named]),
  ];
  if (sizes.length === 0 || (!mode.deny && world.bare.has(key))) return undefined;
  const right = world
    .candidates(key)
    .some(
      (one) =>
        sizes.every((size) => size === String(one.length)) &&
        (range === undefined || asked(range, one.length) === undefined),
    );
  return right ? undefined : `416 of ${range ?? `part ${partNumber}`} with size ${sizes.join(' and ')}`;
}

function judgeBare(
  world: World,
  mode: Mode,
  { key }: ReadWish,
  { body, complete }: CallOutcome,
): string | undefined {
  if (mode.deny) return `an answer without envelope under deny: ${shown(body)}`;
  if (!complete) return undefined;
  const given = world.bare.get(key) ?? [];
  return given.some((one) => one.equals(body))
    ? undefined
    : `without envelope, and not what the store gave: ${shown(body)}`;
}

export const shown = (body: Buffer): string =>
  `${body.length} bytes ${JSON.stringify(body.subarray(0, 40).toString('latin1'))}`;
