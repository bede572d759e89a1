import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { KubeError } from '../../../src/cluster/kube/client.ts';
import { asCheckError } from '../../../src/runtime/cli/base-command.ts';
import { describeFailure } from '../../../src/runtime/cli/failure.ts';
import { SvcError } from '../../../src/runtime/errors.ts';
import { invalidConfig } from '../../../src/runtime/settings/resolve.ts';

const test = suite('exit statuses of checks');
const statusOf = (error: Error) => describeFailure(asCheckError(error), 'svc x').exitStatus;

test('are 3 for what was asked for wrongly', () => {
  assert.is(statusOf(invalidConfig(['one', 'two'])), 3);
  assert.is(statusOf(Object.assign(new Error('Nonexistent flag: --x'), { oclif: { exit: 2 } })), 3);
  assert.equal(describeFailure(asCheckError(invalidConfig(['one'])), '').details, ['one']);
});

test('are 4 for what could not be found out', () => {
  const unavailable = new KubeError('KUBE_UNAVAILABLE', 'no answer');
  assert.is(statusOf(unavailable), 4);
  assert.is(asCheckError(unavailable).message, 'no answer');
  assert.is(statusOf(new SvcError('KUBE_CONFIG', 'unreadable', { nextStep: 'Fix it.', exitStatus: 78 })), 4);
});

test('stay what they are for errors of ours, and for endings', () => {
  assert.is(statusOf(new TypeError('x is not a function')), 70);
  const ending = Object.assign(new Error('EEXIT: 1'), { code: 'EEXIT', oclif: { exit: 1 } });
  assert.is(asCheckError(ending), ending);
  assert.is(ending.oclif.exit, 1);
});

test.run();
