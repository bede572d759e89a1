import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bootVm } from '../../../support/vm/boot.ts';
import { timeoutOfFile } from './vm.ts';

export const timeout = timeoutOfFile;

/** A kernel that is locked down for confidentiality lets no program read its memory, which all of them do. */
const test = suite('the agent where no program can be loaded');

const script = `
export SVC_AGENT_HEALTH=127.0.0.1:9090
node /opt/svc/bin/run.js run agent >/tmp/log 2>&1 &
agent=$!
until grep -q '"listening"' /tmp/log || ! kill -0 $agent; do sleep 0.2; done
cat /tmp/log
exec node -e '
(async () => {
  for (const path of ["/healthz", "/readyz"]) {
    const answer = await fetch("http://127.0.0.1:9090" + path);
    console.log(JSON.stringify({ path, status: answer.status, body: await answer.json() }));
  }
})()'`;

test('lives, is not ready, and says why', async () => {
  const { records, stderr } = await bootVm({
    ...{ script, timeoutMs: 280_000 },
    kernelArguments: ['lockdown=confidentiality'],
  });
  const of = (path: string) => records.find((record) => record['path'] === path);
  assert.is(of('/healthz')?.['status'], 200, stderr);
  assert.is(of('/readyz')?.['status'], 503);
  const { ready, tier, reason } = (of('/readyz')?.['body'] ?? {}) as Record<string, unknown>;
  assert.is(ready, false);
  assert.is(tier, 4);
  assert.match(String(reason), /^No BPF program works here: lsm: .+; fmod_ret: .+; tracepoint: .+/);
  const line = records.find(({ event }) => event === 'guard.tier');
  assert.is(line?.['tier'], 4);
});

test.run();
