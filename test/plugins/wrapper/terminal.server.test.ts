import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { listen } from '../../support/loopback.ts';
import type { SvcVault } from '../../support/types.ts';
import { vaultEnvironment } from '../../support/vault-environment.ts';
import { closeTerminals, keys, openTerminal, type Terminal } from './supervise/support/terminal.ts';
import { type Bed, startBed } from './support/bed.ts';

const test = suite('the wrapper on a terminal');
const wrapper = fileURLToPath(new URL('../../../dist/wrapper.cjs', import.meta.url));
let bed: Bed;

test.before(async () => {
  bed = await startBed();
  await bed.kv.put('app', { KEY: 'one' });
});
test.after.each(closeTerminals);
test.after(() => bed?.stop());

function start(vault: SvcVault, SVC_RESIDENT: string, script: string): Terminal {
  const settings = { HEALTH_ADDR: '', SVC_SECRET_PATHS: 'secret/app', SVC_RESIDENT };
  return openTerminal([process.execPath, wrapper, '--', 'sh', '-c', script], {
    ...vaultEnvironment(vault),
    ...settings,
  });
}

for (const resident of ['false', 'true']) {
  test(`the application reads, and its exit status is passed on (SVC_RESIDENT=${resident})`, async () => {
    const terminal = start(await bed.withToken(), resident, 'read line; echo "got $line $KEY"; exit 4');
    await terminal.expect('application.started');
    terminal.type('a line\n');
    await terminal.expect('got a line one');
    assert.is(await terminal.status, 4);
  });

  test(`one Ctrl-C reaches it once (SVC_RESIDENT=${resident})`, async () => {
    const script = 'trap "echo CAUGHT" INT; echo READY; until read line; do :; done; exit 6';
    const terminal = start(await bed.withToken(), resident, script);
    await terminal.expect(/\nREADY/);
    terminal.type(keys.interrupt);
    await terminal.expect('CAUGHT');
    terminal.type('over\n');
    assert.is(await terminal.status, 6);
    assert.is(terminal.shown().split('CAUGHT').length, 2);
  });

  test(`Ctrl-C before there is one ends the wrapper with 130 (SVC_RESIDENT=${resident})`, async () => {
    const { address, stop } = await listen(createServer((socket) => void socket.destroy()));
    const terminal = start({ addr: `http://${address}`, token: 's.none' }, resident, 'echo STARTED');
    await terminal.expect('secrets.waiting');
    terminal.type(keys.interrupt);
    assert.is(await terminal.status, 130);
    assert.not.match(terminal.shown(), /^STARTED/m);
    await stop();
  });
}

test.run();
