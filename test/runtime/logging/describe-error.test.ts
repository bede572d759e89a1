import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../../src/runtime/errors.ts';
import { describeError, stackOf } from '../../../src/runtime/logging/logger.ts';

const errors = suite('errors in logs');

errors('message, code and the chain of causes', () => {
  const socket = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
  const login = new Error('login failed', { cause: socket });
  const error = new SvcError('VAULT_AWAY', 'no token', { nextStep: 'wait', cause: login });
  assert.equal(describeError(error), {
    error: 'no token',
    code: 'VAULT_AWAY',
    causes: ['login failed', 'connect ECONNREFUSED 127.0.0.1:1 (ECONNREFUSED)'],
  });
});

errors('takes nothing else from an object', () => {
  const error = Object.assign(new Error('403'), {
    body: 'hvs.4711',
    headers: { 'x-vault-token': 'hvs.4711' },
  });
  assert.not.match(JSON.stringify(describeError(error)), 'hvs');
  assert.equal(describeError({ body: 'hvs.4711' }), { error: 'object', code: undefined, causes: undefined });
  assert.is(describeError('text').error, 'text');
  assert.is(describeError(undefined).error, 'undefined');
  assert.is(describeError(new TypeError()).error, 'TypeError');
});

errors('is bounded in depth and length, also for circles', () => {
  const circle = new Error('round');
  circle.cause = circle;
  assert.is(describeError(circle).causes?.length, 5);
  assert.ok(describeError(new Error('x'.repeat(10_000))).error.length < 600);
});

errors('lists what an AggregateError gathers', () => {
  const error = new AggregateError([new Error('::1 refused'), new Error('127.0.0.1 refused')], 'all failed');
  assert.equal(describeError(error).causes, ['::1 refused', '127.0.0.1 refused']);
});

errors('a stack is where it happened, without the message', () => {
  const stack = stackOf(new Error('hvs.4711\n    and more')) ?? [];
  assert.ok(stack.length > 0 && stack.length <= 10);
  assert.ok(stack.every((line) => line.startsWith('at ')));
  assert.is(stackOf('text'), undefined);
});

errors.run();
