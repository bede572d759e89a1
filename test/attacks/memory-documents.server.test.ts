import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMemoryCgroup, type MemoryCgroup } from '../support/limit-cgroup.ts';
import { type RawAnswer, rawHttp } from '../support/raw-http.ts';
import { repetitions } from '../support/repetitions.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';

const test = suite('complete documents of callers, each of the largest size and the worst form');
const MiB = 1024 * 1024;
const room = 128 * MiB;
let rig: Rig;
let cgroup: MemoryCgroup;
let proxy: RiggedProxy;

test.before(async () => {
  rig = await startRig();
});
test.before.each(async () => {
  cgroup = createMemoryCgroup(room);
  proxy = await rig.proxy({ under: cgroup.under });
});
test.after.each(async () => {
  await proxy.stop();
  await cgroup.remove();
});
test.after(() => rig?.stop());

/** A document of at most `bytes`: the pieces that `piece` makes, within `before` and `after`. */
function filled(bytes: number, before: string, piece: string | ((index: number) => string), after: string) {
  const make = typeof piece === 'string' ? () => piece : piece;
  const pieces = [before];
  let left = bytes - Buffer.byteLength(before) - Buffer.byteLength(after);
  for (let index = 0; ; index++) {
    const text = make(index);
    left -= Buffer.byteLength(text);
    if (left < 0) break;
    pieces.push(text);
  }
  return Buffer.from([...pieces, after].join(''));
}

interface Attack {
  readonly target: string;
  readonly method?: 'PUT';
  readonly document: () => Buffer;
  /** What S3 would say; undefined where the store decides. */
  readonly code?: string;
  /** Where nothing is refused. */
  readonly status?: number;
}

const sums = ['CRC32', 'CRC32C', 'SHA1', 'SHA256', 'CRC64NVME'].map((name) => `<Checksum${name}/>`).join('');
const part = (index: number, more = '') =>
  `<x:Part><x:PartNumber>${index + 1}</x:PartNumber><x:ETag>"${'e'.repeat(32)}"</x:ETag>${more}</x:Part>`;

const complete = (
  piece: string | ((index: number) => string),
  { name = 'CompleteMultipartUpload', first = '' } = {},
) => filled(4 * MiB, `<${name}>${first}`, piece, `</${name}>`);
const prefixed = { name: 'x:CompleteMultipartUpload' };
const tenThousand = (piece: (index: number) => string) =>
  Buffer.from(
    `<x:CompleteMultipartUpload xmlns:x="a">${Array.from({ length: 10_000 }, (_none, index) => piece(index)).join('<!-- -->')}</x:CompleteMultipartUpload>`,
  );
const removal = (piece: string, first = '') => filled(2 * MiB, `<Delete>${first}`, piece, '</Delete>');

const toComplete = '/bucket/x?uploadId=a';
const toDelete = '/bucket?delete';
const malformed = { code: 'MalformedXML' };

const attacks: Readonly<Record<string, Attack>> = {
  'parts with a prefix': { target: toComplete, document: () => complete('<Part/>', prefixed), ...malformed },
  'parts after a comment': {
    ...{ target: toComplete, document: () => complete('<Part/>', { first: '<!-- -->' }) },
    ...malformed,
  },
  'parts with every field': {
    ...{ target: toComplete, document: () => complete((index) => part(index, sums), prefixed) },
    ...malformed,
  },
  'ten thousand parts with prefixes and comments': {
    ...{ target: toComplete, document: () => tenThousand(part), code: 'NoSuchUpload' },
  },
  'comments in a part list': { target: toComplete, document: () => complete('<!---->'), ...malformed },
  'comments in comments': { target: toComplete, document: () => complete('<!--<!-->'), ...malformed },
  'attributes of 4 KiB': {
    ...{ target: toComplete, document: () => complete(`<a${' b=">"'.repeat(670)}/>`), ...malformed },
  },
  'elements in elements': { target: toDelete, document: () => removal('<b><a/></b>'), ...malformed },
  'empty elements': { target: toDelete, document: () => removal('<a/>'), ...malformed },
  'elements with names of their own': {
    target: toDelete,
    document: () =>
      filled(
        2 * MiB,
        '<Delete><!-- -->',
        (index) => `<a${index.toString(36)}><b/></a${index.toString(36)}>`,
        '</Delete>',
      ),
    ...malformed,
  },
  'objects without end': {
    ...{ target: toDelete, document: () => removal('<Object><Key>a</Key></Object>'), ...malformed },
  },
  'a thousand long keys of entities': {
    target: toDelete,
    document: () =>
      Buffer.from(
        `<Delete><Quiet>true</Quiet>${`<Object><Key>${'&amp;'.repeat(400)}</Key></Object>`.repeat(1000)}</Delete>`,
      ),
    status: 200,
  },
  'one key of entities': {
    target: toDelete,
    document: () =>
      filled(
        2 * MiB,
        '<Delete><!-- --><Object><Key>',
        '&amp;',
        '</Key></Object><Quiet>true</Quiet></Delete>',
      ),
    status: 200,
  },
  'a key of comments': {
    target: toDelete,
    document: () => filled(2 * MiB, '<Delete><Object><Key>', 'a<!-- -->', '</Key></Object></Delete>'),
    ...malformed,
  },
  CDATA: { target: toDelete, document: () => removal('<![CDATA[x]]>'), ...malformed },
  'processing instructions': { target: toDelete, document: () => removal('<?a?>'), ...malformed },
  'a restore of elements': {
    target: '/bucket/x?restore',
    document: () => filled(64 * 1024, '<RestoreRequest>', '<Days/>', '</RestoreRequest>'),
    ...malformed,
  },
  policies: {
    ...{ target: '/bucket?policy', method: 'PUT' },
    document: () => filled(MiB, '{"a":[', '[],', '0]}'),
  },
  'CORS rules': {
    ...{ target: '/bucket?cors', method: 'PUT' },
    document: () => filled(MiB, '<CORSConfiguration>', '<CORSRule/>', '</CORSConfiguration>'),
  },
  tags: {
    ...{ target: '/bucket/x?tagging', method: 'PUT' },
    document: () => filled(MiB, '<Tagging><TagSet>', '<Tag/>', '</TagSet></Tagging>'),
  },
};

const send = ({ target, method }: Attack, body: Buffer): Promise<RawAnswer> =>
  rawHttp(proxy.url + target, { method: method ?? 'POST', body });

function judge(name: string, { code, status }: Attack, answer: RawAnswer, among?: readonly string[]): void {
  if (answer.code !== undefined && among?.includes(answer.code)) return;
  if (code !== undefined) assert.is(answer.code, code, name);
  else if (status !== undefined) assert.is(answer.status, status, name);
  else assert.ok(answer.status > 0, name);
}

function assertAlive(name: string): void {
  assert.is(cgroup.killed(), 0, name);
  assert.ok(existsSync(`/proc/${proxy.pid}`), name);
}

/** Longest wait for `/healthz` while `busy` goes on, in ms. */
async function longestWait(busy: Promise<unknown>): Promise<number> {
  let [longest, done] = [0, false];
  const over = busy.finally(() => {
    done = true;
  });
  while (!done) {
    const from = performance.now();
    const { status } = await rawHttp(`${proxy.health}/healthz`);
    assert.is(status, 200);
    longest = Math.max(longest, performance.now() - from);
    await setTimeout(20);
  }
  await over;
  return longest;
}

/** For a machine with much else to do; what held the only thread took many seconds. */
const mostWaitMs = 5_000;

test('one at a time: each is answered as S3 does, and the proxy stays awake', async () => {
  for (const [name, attack] of Object.entries(attacks)) {
    const document = attack.document();
    const answered = send(attack, document);
    const longest = await longestWait(answered);
    judge(name, attack, await answered);
    assertAlive(name);
    assert.ok(longest < mostWaitMs, `${name}: /healthz took ${longest} ms`);
  }
});

/** Those that take most when they come together; all of them in the nightly run. */
const together = new Set(['a thousand long keys of entities', 'one key of entities']);
const sixteen = Object.entries(attacks).filter(([name]) => repetitions(together.has(name) ? 1 : 0, 1) > 0);

test('16 of a kind at once: each is answered so, or is told to come again', async () => {
  for (const [name, attack] of sixteen) {
    const document = attack.document();
    for (let round = 0; round < repetitions(1, 5); round++) {
      const answered = Promise.all(Array.from({ length: 16 }, () => send(attack, document)));
      await longestWait(answered);
      for (const answer of await answered) judge(name, attack, answer, ['SlowDown']);
      assertAlive(name);
    }
  }
});

test('all kinds at once', async () => {
  const kinds = Object.entries(attacks);
  const answered = Promise.all(kinds.map(([, attack]) => send(attack, attack.document())));
  await longestWait(answered);
  assertAlive('all kinds');
  for (const [at, answer] of (await answered).entries()) {
    const [name, attack] = kinds[at] as [string, Attack];
    judge(name, attack, answer, ['SlowDown']);
  }
});

test.run();
