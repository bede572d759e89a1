import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureBuilt } from '../../cli/support/svc.ts';
import { runCommand } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { waitFor } from '../../support/wait-for.ts';
import { requireTool } from '../../testbed/ensure.ts';
import { startDev } from './run-dev.ts';

const test = suite('lines that svc dev prints');

test.before(ensureBuilt);

test('work in a shell as they stand', async () => {
  const aws = (await requireTool('awscli')).bins['aws'] as string;
  const folder = temporaryFolder('try-lines');
  const env = { HOME: folder.path, PATH: `${dirname(aws)}:${process.env['PATH']}`, AWS_PAGER: '' };
  const sh = async (line: string) => {
    const { status, stdout, stderr } = await runCommand('bash', ['-o', 'pipefail', '-c', line], folder.path, {
      env,
    });
    assert.is(status, 0, `${line}\n${stderr}`);
    return stdout;
  };
  const text = 'for nobody else to read\n'.repeat(1000);
  const readme = join(folder.path, 'README.md');

  const without = await startDev(folder.path);
  await sh(without.facts.try.write);
  assert.is(await sh(without.facts.try.read), 'for my eyes only\n');
  await sh(without.facts.try.change);
  await waitFor('the change', async () => (await sh(without.facts.try.see)).includes('"v3****nd"'));
  await without.child.end();

  writeFileSync(readme, text);
  const { child, facts } = await startDev(folder.path);
  await sh(facts.try.write);
  assert.is(await sh(facts.try.read), text);
  const shown = await sh(facts.try.look);
  assert.is(shown.match(/^\d{7}( [0-9a-f]{2}){16} /gm)?.length, 10);
  assert.not.match(shown, /nobody/);
  const stored = await sh(`curl -s ${facts.peek}/dev/README.md | wc -c`);
  assert.is(Number(stored), text.length + 28);
  assert.is(readFileSync(readme, 'utf8'), text);
  await child.end();
  await folder.remove();
});

test('--tls: they work over TLS, and nothing of the certificate is left', async () => {
  const aws = (await requireTool('awscli')).bins['aws'] as string;
  const folder = temporaryFolder('try-lines-tls');
  const env = { HOME: folder.path, PATH: `${dirname(aws)}:${process.env['PATH']}`, AWS_PAGER: '' };
  const { child, facts } = await startDev(folder.path, '--tls');
  assert.match(facts.proxy, /^https:/);
  for (const line of [facts.try.write, facts.try.read]) {
    const { status, stderr } = await runCommand('bash', ['-o', 'pipefail', '-c', line], folder.path, { env });
    assert.is(status, 0, `${line}\n${stderr}`);
  }
  const caFile = facts.caFile as string;
  assert.ok(existsSync(caFile));
  await child.end();
  assert.not.ok(existsSync(dirname(caFile)));
  await folder.remove();
});

test.run();
