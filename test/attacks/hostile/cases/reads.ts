import { shown } from '../judge.ts';
import type { StoreCase } from './store-case.ts';

type Step = (one: StoreCase) => Promise<void>;

const aKey = (one: StoreCase) => one.choices.pick(one.keys);

/** Ranges in all forms, in and beyond what the object has. */
export function aRange(one: StoreCase, key: string): string {
  const { choices, world } = one;
  const sizes = world.candidates(key).map(({ length }) => length);
  const size = sizes.length === 0 ? 100 : choices.pick(sizes);
  const at = choices.pick([
    0,
    1,
    size - 1,
    size,
    size + 1,
    size + 28,
    choices.below(size + 1),
    choices.below(size + 1),
  ]);
  const start = Math.max(0, at);
  return `bytes=${choices.pick([`${start}-`, `${start}-${start + choices.below(size + 30)}`, `-${choices.pick([0, 1, 28, size, size + 1, choices.below(size + 1)])}`, `0-${start}`])}`;
}

const whole: Step = async (one) => {
  const [mode, key] = [one.mode(), aKey(one)];
  one.judge(mode, { key }, await one.send(mode, { method: 'GET', key }));
};

const range: Step = async (one) => {
  const [mode, key] = [one.mode(), aKey(one)];
  const wish = { key, range: aRange(one, key) };
  one.judge(mode, wish, await one.send(mode, { method: 'GET', key, headers: { range: wish.range } }));
};

/** Slices of one body that arrive together share what was fetched. */
const rangesTogether: Step = async (one) => {
  const [mode, key] = [one.mode(), aKey(one)];
  const wishes = [1, 2, 3].map(() => ({ key, range: aRange(one, key) }));
  await Promise.all(
    wishes.map(async (wish) =>
      one.judge(mode, wish, await one.send(mode, { method: 'GET', key, headers: { range: wish.range } })),
    ),
  );
};

const part: Step = async (one) => {
  const [mode, key] = [one.mode(), aKey(one)];
  const partNumber = one.choices.between(1, 4);
  one.judge(
    mode,
    { key, partNumber },
    await one.send(mode, { method: 'GET', key, query: `partNumber=${partNumber}` }),
  );
};

const conditional: Step = async (one) => {
  const [mode, key] = [one.mode(), aKey(one)];
  const etag = one.choices.pick(['"0123456789abcdef0123456789abcdef-svc"', '*', 'W/"x"', '"x"']);
  const name = one.choices.pick(['if-match', 'if-none-match', 'if-range']);
  const headers = { [name]: etag, ...(name === 'if-range' && { range: aRange(one, key) }) };
  one.judge(mode, { key, range: headers['range'] }, await one.send(mode, { method: 'GET', key, headers }));
};

/** Sizes of a HEAD are the store's word, but it must end, and say one thing. */
const head: Step = async (one) => {
  const [mode, key] = [one.mode(), aKey(one)];
  const { choices } = one;
  const headers = choices.chance(0.4) ? { range: aRange(one, key) } : {};
  const { status, headers: told } = await one.send(mode, { method: 'HEAD', key, headers });
  if (
    status === 206 &&
    !/^bytes \d+-\d+\/\d+$/.test(told['content-range'] ?? '') &&
    told['x-amz-meta-svc-encrypted'] !== undefined
  )
    one.fail(`a HEAD 206 with Content-Range ${told['content-range']}`);
};

const attributes: Step = async (one) => {
  await one.send(one.mode(), {
    method: 'GET',
    key: aKey(one),
    query: 'attributes=',
    headers: { 'x-amz-object-attributes': 'ETag,ObjectSize,ObjectParts' },
  });
};

const list: Step = async (one) => {
  const query = one.choices.pick(['', 'list-type=2', 'versions=', 'uploads=']);
  const { status, body } = await one.send(one.mode(), { method: 'GET', key: '', query });
  if (status === 200 && !/<\/List\w+>\s*$/.test(body.toString()))
    one.fail(`a listing without end: ${shown(body)}`);
};

export const reads: readonly (readonly [number, Step])[] = [
  [30, whole],
  [30, range],
  [6, rangesTogether],
  [8, part],
  [5, conditional],
  [9, head],
  [4, attributes],
  [8, list],
];

/** With an honest store: exactly the newest where nothing came between, else any authentic one or a refusal. */
export async function readHonestly(one: StoreCase, key: string): Promise<void> {
  const { world } = one;
  const mode = one.mode();
  const outcome = await one.send(mode, { method: 'GET', key });
  one.judge(mode, { key }, outcome);
  const certain = world.certain.get(key);
  if (certain === undefined) return;
  if (certain === null) {
    if (outcome.status !== 404) one.fail(`${key} was deleted and is answered ${outcome.status}`);
    return;
  }
  if (outcome.status !== 200 || !outcome.complete || !outcome.body.equals(certain))
    return one.fail(
      `an honest store, and ${key} is not what was written: ${outcome.status} ${shown(outcome.body)} in place of ${shown(certain)}`,
    );
  if (certain.length === 0 || !one.choices.chance(0.3)) return;
  const range = aRange(one, key);
  const sliced = await one.send(mode, { method: 'GET', key, headers: { range } });
  one.judge(mode, { key, range }, sliced);
  if (sliced.status !== 206 && sliced.status !== 416)
    one.fail(`an honest store, and ${range} of ${key} is answered ${sliced.status}`);
}
