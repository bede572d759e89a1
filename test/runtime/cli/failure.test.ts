import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { describeFailure, failureJson, formatFailure } from '../../../src/runtime/cli/failure.ts';
import { SvcError } from '../../../src/runtime/errors.ts';

const failure = suite('failure');
const plain = (_style: string, text: string) => text;

const error = new SvcError('CONFIG_INVALID', 'The configuration has 2 errors', {
  nextStep: 'Fix them.',
  exitStatus: 78,
  details: ['A: should be a URL', 'B: required'],
  cause: new Error('the inner cause'),
});

failure('keeps what an SvcError says', () => {
  const described = describeFailure(error, 'svc run proxy');
  assert.is(
    formatFailure(described, plain),
    [
      'Error: The configuration has 2 errors (CONFIG_INVALID)',
      '  A: should be a URL',
      '  B: required',
      'Next:  Fix them.',
    ].join('\n'),
  );
  assert.is(described.exitStatus, 78);
});

failure('is an object of code, message, next step and details under --json', () => {
  assert.equal(failureJson(describeFailure(error, 'svc')), {
    error: {
      code: 'CONFIG_INVALID',
      message: 'The configuration has 2 errors',
      nextStep: 'Fix them.',
      details: ['A: should be a URL', 'B: required'],
    },
  });
});

failure('takes an error of oclif for a usage error, status 2', () => {
  const usage = Object.assign(new Error('Nonexistent flag: --x\nSee more help with --help'), {
    oclif: { exit: 2 },
    parse: { input: { argv: ['--x', 'argv-marker'] } },
  });
  const described = describeFailure(usage, 'svc run');
  assert.equal(described, {
    code: 'USAGE',
    message: 'Nonexistent flag: --x',
    details: [],
    nextStep: 'Run `svc run --help` to see what it takes.',
    exitStatus: 2,
  });
  assert.not.match(JSON.stringify(failureJson(described)), /argv-marker/);
});

failure('asks for a report of anything else, status 70', () => {
  const described = describeFailure(new TypeError('x is not a function'), 'svc');
  assert.is(described.code, 'INTERNAL');
  assert.is(described.exitStatus, 70);
  assert.match(described.nextStep, /report/);
  assert.is(describeFailure('a thrown string', 'svc').message, 'a thrown string');
});

failure.run();
