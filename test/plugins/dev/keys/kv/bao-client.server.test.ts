import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startKeyServer } from '../../../../../src/plugins/dev/keys/key-server.ts';
import { setUpSecrets } from '../../../../../src/plugins/dev/keys/set-up.ts';
import { noKeyFile } from '../../../../../src/plugins/dev/keys/transit-keys.ts';
import { runCommand } from '../../../../support/run-command.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';
import { requireTool } from '../../../../testbed/ensure.ts';
import { quietLog } from '../../quiet-log.ts';

const test = suite('the bao client on the embedded key server');

test('writes, reads, patches, lists and deletes with the tokens that svc dev shows', async () => {
  const bao = (await requireTool('openbao')).bins['bao'] as string;
  const folder = temporaryFolder('bao');
  const { url, rootToken, close } = await startKeyServer(noKeyFile, quietLog());
  const { writer } = await setUpSecrets({ url, rootToken, secrets: { 'demo/api': { API_KEY: 'one' } } });
  const run = async (token: string, ...args: string[]) => {
    const env = { HOME: folder.path, BAO_ADDR: url, BAO_TOKEN: token };
    const { status, stdout, stderr } = await runCommand(bao, ['kv', ...args], folder.path, { env });
    assert.is(status, 0, `bao kv ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout;
  };
  assert.match(await run(writer, 'put', 'secret/demo/api', 'API_KEY=two', 'MORE=x'), /version +2/);
  assert.is(await run(writer, 'get', '-field=API_KEY', 'secret/demo/api'), 'two');
  assert.is(await run(writer, 'get', '-field=API_KEY', '-version=1', 'secret/demo/api'), 'one');
  assert.match(await run(writer, 'patch', 'secret/demo/api', 'API_KEY=three'), /version +3/);
  assert.is(await run(writer, 'get', '-field=MORE', 'secret/demo/api'), 'x');
  assert.match(await run(rootToken, 'list', 'secret/demo'), /^api$/m);
  assert.match(await run(rootToken, 'metadata', 'get', 'secret/demo/api'), /current_version +3/);
  await run(rootToken, 'delete', 'secret/demo/api');
  await close();
  await folder.remove();
});

test.run();
