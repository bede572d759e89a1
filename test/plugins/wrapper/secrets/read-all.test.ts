import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { VaultError } from '../../../../src/keyserver/contract.ts';
import { readAll } from '../../../../src/plugins/wrapper/obtain.ts';

const reading = suite('reading all paths');
const signal = new AbortController().signal;

function client(answers: Readonly<Record<string, 'document' | VaultError>>) {
  const released: string[] = [];
  const read = async (path: string) => {
    const answer = answers[path];
    if (answer instanceof VaultError) throw answer;
    const release = () => void released.push(path);
    return { path, kvVersion: 2 as const, version: 1, fields: [], release };
  };
  return { read, released };
}

const failure = (promise: Promise<unknown>): Promise<VaultError> =>
  promise.then(
    () => assert.unreachable() as never,
    (error) => error,
  );

reading('keeps the order of the paths', async () => {
  const documents = await readAll(client({ b: 'document', a: 'document' }), ['b', 'a'], signal);
  assert.equal(
    documents.map(({ path }) => path),
    ['b', 'a'],
  );
});

reading('names every refused path at once, and keeps nothing that was read', async () => {
  const source = client({
    a: 'document',
    b: new VaultError('denied', 'refuses read on b'),
    c: new VaultError('unavailable', 'busy'),
    d: new VaultError('not-found', 'nothing at d'),
  });
  const error = await failure(readAll(source, ['a', 'b', 'c', 'd'], signal));
  assert.is(error.kind, 'denied');
  assert.is(error.message, 'refuses read on b; nothing at d');
  assert.equal(source.released, ['a']);
});

reading('is worth another attempt only where nothing was refused', async () => {
  const source = client({ a: new VaultError('unavailable', 'busy'), b: 'document' });
  assert.is((await failure(readAll(source, ['a', 'b'], signal))).kind, 'unavailable');
  assert.equal(source.released, ['b']);
});

reading.run();
