import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stage } from '../../../src/plugins/dev/stage.ts';
import { SvcError } from '../../../src/runtime/errors.ts';
import { rejection } from '../../keyserver/rejection.ts';

const test = suite('a part of the demonstration');

test('gives what the part gives, and throws what it throws', async () => {
  assert.is(await stage('The part', Promise.resolve(7)), 7);
  const broken = new Error('broken');
  assert.is(await rejection(stage('The part', Promise.reject(broken))), broken);
});

test('says which part has stopped, and where it stood', async () => {
  const never = new Promise<never>(() => undefined);
  const error = await rejection(stage('The part', never, () => '; its last event is health.listening', 5));
  assert.instance(error, SvcError);
  assert.match(
    String(error),
    /The part takes longer than 0\.005 seconds; its last event is health\.listening/,
  );
});

test.run();
