import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createLeanLogger,
  createLogger,
  type LoggerOptions,
} from '../../../src/runtime/logging/create-logger.ts';
import type { LogFields, Logger } from '../../../src/runtime/logging/logger.ts';
import { createSecretRegistry } from '../../../src/runtime/logging/secrets.ts';

const lean = suite('lean logger');

lean('writes what pino writes, whatever the fields hold', async () => {
  const both = await pair();
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
      const both = await pair({ format, level });
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
    const both = await pair({ format, secrets });
    const line = both.same((log) =>
      log.child({ from: 'hvs.4711"4711' }).error('failed hvs.4711"4711', { list: ['hvs.4711"4711'] }),
    );
    assert.is(line.split('[redacted]').length - 1, 3);
  }
});

/** Both loggers; `same` makes each write and compares what they wrote, but for the time. */
async function pair(options: Partial<LoggerOptions> = {}) {
  process.env['NO_COLOR'] = '1';
  const written = { lean: [] as string[], pino: [] as string[] };
  const sinkTo = (lines: string[]) => ({ write: (line: string) => void lines.push(line) });
  const all = { component: 'demo', ...options };
  const ours = createLeanLogger({ ...all, sink: sinkTo(written.lean) });
  const theirs = await createLogger({ ...all, sink: sinkTo(written.pino) });
  const same = (write: (log: Logger) => void): string => {
    write(ours);
    write(theirs);
    const [line, expected] = [written.lean, written.pino].map((lines) =>
      lines.splice(0).map(withoutTime).join(''),
    );
    assert.is(line, expected);
    return line ?? '';
  };
  return { same };
}

function withoutTime(line: string): string {
  return line.replace(/"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"|^\d\d:\d\d:\d\d\.\d{3}/, 'TIME');
}

lean.run();
