import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { listen } from '../../support/loopback.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import { fullChecksum } from '../../tools/format-vectors/checksums.ts';
import { multipart, type StoredObject, single } from '../../tools/format-vectors/stored-objects.ts';
import { filesBelow, readByPython, readManyByPython } from './python-reader.ts';
import { expected, type NamedVector, storedVectors, vectorFolder } from './vectors.ts';

const test = suite<{ folder: TemporaryFolder }>('vectors of the stored format, by the reader in Python');

test.before((context) => {
  context.folder = temporaryFolder('python');
});

test.after(async ({ folder }) => {
  await folder?.remove();
});

const transitKeys = ['--keys', join(vectorFolder, 'transit-key.json')];

/** What the reader makes of each, in folders of their own below that one. */
async function outcomes(to: string, vectors: readonly NamedVector[], ...args: string[]): Promise<string[]> {
  const runs = vectors.map(({ name, stateBucket }) => {
    const state = stateBucket === undefined ? [] : ['--state-bucket', stateBucket];
    return [join(vectorFolder, `${name}.json`), '--to', join(to, name), ...state, ...args];
  });
  const ended = await readManyByPython(runs);
  return ended.map(({ status, stderr }, index) => {
    const files = [...filesBelow(join(to, vectors[index]?.name ?? '')).values()];
    const [reason] = /(?<=: )[a-z-]+(?=: )/.exec(stderr) ?? [];
    if (status === 1 && files.length === 0) return `refused: ${reason}`;
    if (status === 0 && files.length === 1) return `plaintext ${(files[0] as Buffer).toString('base64')}`;
    return `status ${status}, ${files.length} files: ${stderr}`;
  });
}

test('each is read or refused as it says', async ({ folder }) => {
  const vectors = storedVectors();
  const seen = await outcomes(join(folder.path, 'all'), vectors, ...transitKeys);
  assert.ok(vectors.length > 150);
  for (const [index, vector] of vectors.entries()) assert.is(seen[index], expected(vector), vector.name);
});

test('a recovery key alone reads what is sealed to it, and refuses the others', async ({ folder }) => {
  const vectors = storedVectors(['recovery']);
  const key = ['--recovery-key', join(vectorFolder, 'recovery-key.txt')];
  const seen = await outcomes(join(folder.path, 'recovery'), vectors, ...key);
  assert.ok(vectors.length > 10);
  for (const [index, vector] of vectors.entries()) assert.is(seen[index], expected(vector), vector.name);
});

/** Each with a checksum of something else, sealed as a faulty writer would. */
function wronglySummed(): readonly StoredObject[] {
  const [plaintext, another] = [Buffer.from('kept'), Buffer.from('another')];
  const name = (key: string) => ({ bucket: 'reports', key });
  const algorithms = ['crc32', 'sha1', 'sha256', 'sha512', 'md5'] as const;
  return algorithms.flatMap((algorithm) => {
    const checksum = fullChecksum(algorithm, another);
    const parts = [{ n: 1, plaintext }];
    return [
      single(name(`${algorithm}-single`), plaintext, { checksum }),
      multipart(name(`${algorithm}-parts`), parts, { checksum }).inline,
    ];
  });
}

test('a plaintext that has not the checksum kept with it is refused', async ({ folder }) => {
  const file = join(folder.path, 'wrong.json');
  const objects = wronglySummed().map((object) => ({ ...object, body: object.body.toString('base64') }));
  writeFileSync(file, JSON.stringify({ objects }));
  const to = join(folder.path, 'wrong');
  const keys = join(vectorFolder, 'transit-key.json');
  const { status, stderr } = await readByPython([file, '--keys', keys, '--to', to]);
  assert.is(status, 1, stderr);
  assert.is(stderr.match(/: wrong-checksum: /g)?.length, objects.length, stderr);
  assert.is(filesBelow(to).size, 0);
});

test('where encrypted objects are wanted only, nothing without svc metadata is read', async ({ folder }) => {
  const plain = storedVectors().filter(({ expect }) => 'unencrypted' in expect);
  const seen = await outcomes(join(folder.path, 'only'), plain, ...transitKeys, '--encrypted-only');
  assert.equal(
    seen,
    plain.map((vector) => expected(vector, true)),
  );
});

test('a recovery key that was mistyped, cut or written in mixed case is no key', async ({ folder }) => {
  const [vector] = storedVectors(['recovery']);
  const right = readFileSync(join(vectorFolder, 'recovery-key.txt'), 'utf8')
    .trim()
    .split('\n')
    .at(-1) as string;
  const typed = (at: number) => `${right.slice(0, at)}${right[at] === 'Q' ? 'P' : 'Q'}${right.slice(at + 1)}`;
  const wrong = [typed(16), typed(40), typed(right.length - 1), right.slice(0, -1)];
  for (const [index, line] of [...wrong, `${right.slice(0, 40)}${right.slice(40).toLowerCase()}`].entries()) {
    const file = join(folder.path, `wrong-${index}.txt`);
    const to = join(folder.path, `mistyped-${index}`);
    writeFileSync(file, `${line}\n`);
    const path = join(vectorFolder, `${vector?.name}.json`);
    const { status, stderr } = await readByPython([path, '--to', to, '--recovery-key', file]);
    assert.is(status, 2, stderr);
    assert.match(stderr, /age identity/);
    assert.is(filesBelow(to).size, 0);
  }
});

test('a file that holds no stored objects is named, and ends it with 2', async ({ folder }) => {
  const object = { bucket: 'reports', key: 'a', body: '' };
  const wrong: readonly unknown[] = [
    ...[
      5,
      null,
      [],
      'text',
      { objects: 5 },
      { objects: [5] },
      { ...object, key: 5 },
      { ...object, bucket: ['b'] },
    ],
    ...[
      { ...object, body: 5 },
      { ...object, metadata: ['a'] },
      { ...object, metadata: { 'svc-algorithm': [] } },
    ],
  ];
  const texts = [...wrong.map((value) => JSON.stringify(value)), '['.repeat(200_000), '{'];
  const runs = texts.map((text, index) => {
    const file = join(folder.path, `no-object-${index}.json`);
    writeFileSync(file, text);
    return [file, ...transitKeys, '--to', join(folder.path, 'no-object')];
  });
  for (const [index, { status, stderr }] of (await readManyByPython(runs)).entries()) {
    assert.is(status, 2, `${texts[index]?.slice(0, 99)}: ${stderr}`);
    assert.not.match(stderr, /Traceback/);
  }
  assert.is(filesBelow(join(folder.path, 'no-object')).size, 0);
});

test('a key server whose answer breaks off, or is none, ends it with 2', async ({ folder }) => {
  const file = join(vectorFolder, `${storedVectors()[0]?.name}.json`);
  const to = join(folder.path, 'no-answer');
  for (const answer of [
    ...['', 'none\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"da'],
    ...['[]', '{"data":null}'].map(
      (body) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ),
  ]) {
    const server = createServer((socket) => void socket.once('data', () => socket.end(answer)));
    const own = await listen(server);
    try {
      const env = { VAULT_ADDR: own.url, VAULT_TOKEN: 'unused' };
      const { status, stderr } = await readByPython([file, '--to', to], env);
      assert.is(status, 2, `${answer}: ${stderr}`);
      assert.match(stderr, /^read\.py: Failed: the key server: /);
    } finally {
      await own.stop();
    }
  }
  assert.is(filesBelow(to).size, 0);
});

test('without a key, and called wrongly, it ends with 2', async ({ folder }) => {
  const [vector] = storedVectors();
  const file = join(vectorFolder, `${vector?.name}.json`);
  mkdirSync(join(folder.path, 'none'));
  for (const args of [[file], [file, '--to', join(folder.path, 'none')]])
    assert.is((await readByPython(args)).status, 2);
  assert.is(filesBelow(join(folder.path, 'none')).size, 0);
});

test.run();
