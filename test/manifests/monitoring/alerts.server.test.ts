import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runCommand } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { requireTool } from '../../testbed/ensure.ts';

const RULES = fileURLToPath(new URL('../../../manifests/chart/files/alerts.yaml', import.meta.url));
const CASES = fileURLToPath(new URL('alerts.test.yaml', import.meta.url));

const test = suite<{ promtool: string }>('alert rules');

test.before(async (context) => {
  context.promtool = (await requireTool('promtool')).bins.promtool as string;
});

const written = readFileSync(RULES, 'utf8');

/** What promtool says of the rules; empty when every case holds. */
async function judge(promtool: string, rules: string): Promise<string> {
  const folder = temporaryFolder('alerts');
  writeFileSync(join(folder.path, 'alerts.yaml'), rules);
  cpSync(CASES, join(folder.path, 'cases.yaml'));
  const { status, stdout, stderr } = await runCommand(promtool, ['test', 'rules', 'cases.yaml'], folder.path);
  await folder.remove();
  return status === 0 ? '' : stdout + stderr;
}

test('promtool finds them well-formed, seven of them', async ({ promtool }) => {
  const { status, stdout, stderr } = await runCommand(promtool, ['check', 'rules', RULES], '/');
  assert.is(status, 0, stderr);
  assert.match(stdout, /SUCCESS: 7 rules found/);
});

test('each fires when it should, and only then', async ({ promtool }) => {
  assert.is(await judge(promtool, written), '');
});

test('and the cases would find another threshold, time or label', async ({ promtool }) => {
  const changes: readonly [string | RegExp, string][] = [
    ['for: 1m', 'for: 3m'],
    ['for: 5m', 'for: 1m'],
    ['for: 10m', 'for: 5m'],
    ['< 50', '<= 50'],
    ['for: 2m', 'for: 8m'],
    ['svc_workload_enforced) == 0', 'svc_workload_protection_score) < 50'],
    ['count by (instance)', 'sum by (pod)'],
    ['{status="error"}', ''],
    [/namespace="svc-system", /g, ''],
    ['sum(rate', 'max(rate'],
    [/\n *or\s+absent.*/, ''],
  ];
  for (const [before, after] of changes) {
    const changed = written.replace(before, after);
    assert.is.not(changed, written, `nothing to change: ${before}`);
    assert.is.not(await judge(promtool, changed), '', String(before));
  }
});

test.run();
