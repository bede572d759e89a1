import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createLogger, type LoggerOptions } from '../../../src/runtime/logging/create-logger.ts';
import { createSecretRegistry } from '../../../src/runtime/logging/secrets.ts';

const logging = suite('logging');

logging('writes one JSON line an event', async () => {
  const { log, lines } = await capture();
  log.info('transit.slow', {
    path: 'transit/encrypt/svc',
    ms: 12,
    ok: true,
    none: undefined,
    nil: null,
    list: ['a', 'b'],
  });
  const { time, ...rest } = JSON.parse(lines[0] ?? '');
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(rest, {
    level: 'info',
    component: 'demo',
    event: 'transit.slow',
    path: 'transit/encrypt/svc',
    ms: 12,
    ok: true,
    nil: null,
    list: ['a', 'b'],
  });
  assert.ok(lines[0]?.endsWith('}\n'));
});

logging('a line stays one line, whatever its fields hold', async () => {
  const { log, lines } = await capture();
  log.warn('odd', { key: 'a\nb\r\u2028"\\', '%s': '%d' });
  assert.is(lines.join('').split('\n').length, 2);
  assert.is(JSON.parse(lines[0] ?? '').key, 'a\nb\r\u2028"\\');
});

logging('leaves out what is below its level', async () => {
  const { log, lines } = await capture({ level: 'warn' });
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  assert.equal(
    lines.map((line) => JSON.parse(line).event),
    ['c', 'd'],
  );
});

logging('a child adds its fields', async () => {
  const { log, lines } = await capture();
  log.child({ request: '7' }).child({ part: 2 }).info('x', { bytes: 1 });
  const { request, part, bytes } = JSON.parse(lines[0] ?? '');
  assert.equal([request, part, bytes], ['7', 2, 1]);
});

logging('replaces registered secrets anywhere, in both formats, also in children and events', async () => {
  const secrets = createSecretRegistry();
  for (const format of ['json', 'text'] as const) {
    const { log, lines } = await capture({ format, secrets });
    const child = log.child({ from: 'hvs.4711"4711' });
    secrets.register('hvs.4711"4711');
    child.error('failed hvs.4711"4711', { error: 'denied hvs.4711"4711', list: ['hvs.4711"4711'] });
    assert.not.match(lines.join(''), '4711');
    assert.is(lines.join('').split('[redacted]').length - 1, 4);
  }
});

logging('masks texts under telling names, also when nobody registered them', async () => {
  const { log, lines } = await capture();
  log
    .child({ 'x-vault-token': 'abc' })
    .info('x', { clientSecret: 'abc', Authorization: ['abc'], password: 'abc' });
  assert.not.match(lines.join(''), 'abc');
  log.info('x', { tokenPath: '/run/token', tokenTtl: 60, secretPaths: ['secret/app'], token: 3 });
  const { tokenPath, tokenTtl, secretPaths, token } = JSON.parse(lines[1] ?? '');
  assert.equal([tokenPath, tokenTtl, secretPaths, token], ['/run/token', 60, ['secret/app'], 3]);
});

logging(
  'text for people: aligned, quoted where needed, lists below, nothing that drives a terminal',
  async () => {
    const { log, lines } = await capture({ format: 'text' });
    log.info('listening', { address: '127.0.0.1:1', words: 'a b', details: ['one', 'tw\u001b[31mo'] });
    const plain = (lines[0] ?? '').replace(/^\S+/, 'TIME');
    assert.is(
      plain,
      'TIME info  demo listening address=127.0.0.1:1 words="a b"\n    details: one\n    details: tw\\u{1b}[31mo\n',
    );
  },
);

async function capture(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const sink = { write: (line: string) => void lines.push(line) };
  process.env['NO_COLOR'] = '1';
  return { log: await createLogger({ component: 'demo', sink, ...options }), lines };
}

logging.run();
