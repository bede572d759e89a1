import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseArguments } from '../../../src/plugins/wrapper/prepare.ts';
import type { SvcError } from '../../../src/runtime/errors.ts';

const test = suite('command line of the wrapper');

function errors(...argv: string[]): readonly string[] {
  try {
    parseArguments(argv);
    return [];
  } catch (error) {
    assert.equal([(error as SvcError).code, (error as SvcError).exitStatus], ['USAGE', 64]);
    return (error as SvcError).details;
  }
}

test('flags before --, the command literally after it', () => {
  const argv = ['--secrets=a/b,c/d', '--', 'app', '--help', '--', '', '-x=y'];
  assert.equal(parseArguments(argv), {
    flags: { secrets: 'a/b,c/d' },
    command: ['app', '--help', '--', '', '-x=y'],
  });
  assert.equal(parseArguments([]), { flags: {}, command: undefined });
});

test('a value stands behind = or in the next argument', () => {
  assert.equal(parseArguments(['--delivery', 'fd', '--env-map=a=A', '--health=']).flags, {
    delivery: 'fd',
    'env-map': 'a=A',
    health: '',
  });
  assert.equal(parseArguments(['--secrets', 'a/b', '--', 'x']), {
    flags: { secrets: 'a/b' },
    command: ['x'],
  });
});

test('a switch takes a value behind = only', () => {
  assert.equal(parseArguments(['--exec', '--signal-group=false']).flags, {
    exec: true,
    'signal-group': 'false',
  });
  assert.equal(errors('--exec', 'true'), ['argument 2: is not a flag; the command follows --']);
});

test('help and version are asked for before -- only', () => {
  assert.is(parseArguments(['--nonsense', '--help']).shows, 'help');
  assert.is(parseArguments(['--version']).shows, 'version');
  assert.is(parseArguments(['--', '--version']).shows, undefined);
});

test('every error at once, with what was perhaps meant', () => {
  const found = errors('--secret=a', '--rotation', '--delivery=fd', '--delivery=env', 'app', '--');
  assert.equal(found, [
    '--secret: unknown flag (did you mean --secrets?)',
    '--rotation: needs a value, one of restart, sighup, none',
    '--delivery: should be given once',
    'argument 5: is not a flag; the command follows --',
    '--: should be followed by a command',
  ]);
});

test('a short flag and a lone dash are no flags', () => {
  assert.equal(errors('-h', '-'), [
    'argument 1: is not a flag; the command follows --',
    'argument 2: is not a flag; the command follows --',
  ]);
});

test('never repeats a value, which may be a secret in the wrong place', () => {
  const found = errors(
    '--vault-token=hvs.1',
    '--vault-token',
    'hvs.2',
    'hvs.3',
    '--delivery=hvs.4',
    '--delivery=hvs.5',
  );
  assert.is(found.length, 4);
  assert.not.match(found.join('\n'), 'hvs');
});

test('--copy-to stands alone, with a folder', () => {
  for (const argv of [['--copy-to', '/target'], ['--copy-to=/target']]) {
    assert.equal(parseArguments(argv), { copyTo: '/target', flags: {}, command: undefined });
  }
  const alone = ['--copy-to: should be given alone, with a folder'];
  for (const argv of [
    ['--copy-to'],
    ['--copy-to='],
    ['--copy-to=/t', '--', 'app'],
    ['--exec', '--copy-to=/t'],
  ]) {
    assert.equal(errors(...argv), alone, argv.join(' '));
  }
  assert.equal(parseArguments(['--', '--copy-to', '/t']).command, ['--copy-to', '/t']);
});

test('--install-to stands alone, with a folder', () => {
  assert.equal(parseArguments(['--install-to', '/t']), { installTo: '/t', flags: {}, command: undefined });
  const alone = ['--install-to: should be given alone, with a folder'];
  for (const argv of [['--install-to'], ['--install-to=/t', '--copy-to=/t'], ['--exec', '--install-to=/t']])
    assert.equal(errors(...argv), alone, argv.join(' '));
});

test.run();
