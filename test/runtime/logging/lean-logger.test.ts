import fc from 'fast-check';
import pino, { type Logger as Pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createLogger, formatted, type LoggerOptions } from '../../../src/runtime/logging/create-logger.ts';
import type { LogFields, Logger } from '../../../src/runtime/logging/logger.ts';
import { createSecretRegistry, redactFields, secrets } from '../../../src/runtime/logging/secrets.ts';

const lean = suite('lines of the log');

lean('writes what pino writes, whatever the fields hold', async () => {
  const both = pair();
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
  const value = fc.oneof(
    text,
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.array(text),
  );
  const fields = fc.dictionary(text, value, { noNullPrototype: true }) as fc.Arbitrary<LogFields>;
  fc.assert(
    fc.property(text, fields, fields, (event, own, bound) => {
      both.same((log) => log.info(event, own));
      both.same((log) => log.child(bound).warn(event, own));
    }),
  );
});

for (const format of ['json', 'text'] as const) {
  lean(`agrees in format ${format} on levels, children, lists, telling names and errors`, async () => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) {
      const both = pair({ format, level });
      for (const name of ['debug', 'info', 'warn', 'error'] as const) {
        both.same((log) => log[name]('plain'));
        both.same((log) =>
          log[name]('listening', { address: '127.0.0.1:1', words: 'a b', ms: 1.5, none: undefined }),
        );
        both.same((log) =>
          log.child({ path: 'a/b', token: 'x' }).child({ part: 2 })[name]('x', { clientSecret: 'abc' }),
        );
        both.same((log) =>
          log[name]('refused', { error: 'no', details: ['one', 'tw\u001b[31mo'], nil: null }),
        );
      }
    }
  });
}

lean('replaces registered secrets, in both formats, also in children and events', async () => {
  for (const format of ['json', 'text'] as const) {
    const secrets = createSecretRegistry();
    secrets.register('hvs.4711"4711');
    const both = pair({ format, secrets });
    const line = both.same((log) =>
      log.child({ from: 'hvs.4711"4711' }).error('failed hvs.4711"4711', { list: ['hvs.4711"4711'] }),
    );
    assert.is(line.split('[redacted]').length - 1, 3);
  }
});

/** Our logger and pino; `same` makes each write and compares what they wrote, but for the time. */
function pair(options: Partial<LoggerOptions> = {}) {
  process.env['NO_COLOR'] = '1';
  const written = { ours: [] as string[], pino: [] as string[] };
  const sinkTo = (lines: string[]) => ({ write: (line: string) => void lines.push(line) });
  const all = { component: 'demo', ...options };
  const ours = createLogger({ ...all, sink: sinkTo(written.ours) });
  const theirs = pinoLogger({ ...all, sink: sinkTo(written.pino) });
  const same = (write: (log: Logger) => void): string => {
    write(ours);
    write(theirs);
    const [line, expected] = [written.ours, written.pino].map((lines) =>
      lines.splice(0).map(withoutTime).join(''),
    );
    assert.is(line, expected);
    return line ?? '';
  };
  return { same };
}

function pinoLogger(options: LoggerOptions & Required<Pick<LoggerOptions, 'sink'>>): Logger {
  const registry = options.secrets ?? secrets;
  const root = pino(
    {
      level: options.level ?? 'info',
      base: { component: options.component },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: (line) => registry.redact(line) },
    },
    formatted(options.sink, options.format ?? 'json'),
  );
  return behindOurInterface(root);
}

function behindOurInterface(target: Pino): Logger {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields: LogFields = {}) =>
      target[level]({ event, ...redactFields(fields) });
  return {
    ...{ debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    child: (fields) => behindOurInterface(target.child(redactFields(fields))),
  };
}

function withoutTime(line: string): string {
  return line.replace(/"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"|^\d\d:\d\d:\d\d\.\d{3}/, 'TIME');
}

lean.run();
