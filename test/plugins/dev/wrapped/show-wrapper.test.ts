import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startKeyServer } from '../../../../src/plugins/dev/keys/key-server.ts';
import { exampleSecrets, type SecretsSource } from '../../../../src/plugins/dev/keys/set-up.ts';
import { noKeyFile } from '../../../../src/plugins/dev/keys/transit-keys.ts';
import { type ShowOptions, showWrapper } from '../../../../src/plugins/dev/wrapped/show-wrapper.ts';
import { SvcError } from '../../../../src/runtime/errors.ts';
import { ensureBuilt } from '../../../cli/support/svc.ts';
import { freePort } from '../../../support/ports.ts';
import { quietLog } from '../quiet-log.ts';

const test = suite('showing the wrapper');
test.before(ensureBuilt);

/** Tokens that no key server knows. */
const sourceAt = (keyServer: string): SecretsSource => ({
  keyServer,
  secrets: exampleSecrets(),
  tokens: { reader: 's.reader', writer: 's.writer' },
});

function optionsWith(said: string[], changes: Partial<ShowOptions> = {}): ShowOptions {
  return {
    once: false,
    say: (text) => said.push(text),
    log: quietLog(),
    pen: { paint: (_style, text) => text, width: 80 },
    signal: AbortSignal.timeout(60_000),
    ...changes,
  };
}

test('elsewhere than on Linux it says that it needs Linux', async () => {
  const said: string[] = [];
  const shown = await showWrapper(
    sourceAt('http://127.0.0.1:1'),
    optionsWith(said, { platform: 'darwin', once: true }),
  );
  assert.match(said.join(''), /The wrapper needs Linux, and this is darwin/);
  assert.equal(shown.facts, { leftOut: 'The wrapper needs Linux, and this is darwin' });
  assert.equal([shown.tryText, shown.tryLines], [[], undefined]);
  await shown.end();
});

test('a wrapper that is refused is said, and is an error where it was to be shown once', async () => {
  const { url, close } = await startKeyServer(noKeyFile, quietLog());
  const said: string[] = [];
  const shown = await showWrapper(sourceAt(url), optionsWith(said));
  const text = said.join('').replace(/\s+/g, ' ');
  assert.match(text, /The demo under the wrapper failed: .*does not accept the token.* keep running\./);
  assert.match(JSON.stringify(shown.facts), /does not accept the token/);
  const error = await showWrapper(sourceAt(url), optionsWith([], { once: true })).catch((cause) => cause);
  assert.ok(error instanceof SvcError);
  assert.equal([error.code, error.exitStatus], ['DEV_WRAPPER', 1]);
  await close();
});

test('told to end while the wrapper starts, it leaves nothing and says nothing', async () => {
  const said: string[] = [];
  const stop = new AbortController();
  const keyServer = `http://127.0.0.1:${await freePort()}`;
  const shown = showWrapper(sourceAt(keyServer), optionsWith(said, { signal: stop.signal, once: true }));
  setTimeout(() => stop.abort(), 300);
  assert.equal((await shown).facts, { leftOut: 'It was told to end' });
  assert.equal(said, []);
});

test.run();
