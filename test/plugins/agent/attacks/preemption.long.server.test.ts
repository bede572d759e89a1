import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bootAgainWhenStuck } from '../../../support/vm/boot-again.ts';
import { guestProgram } from '../../../support/vm/guest-program.ts';
import { PACKAGE } from '../../../support/vm/package-files.ts';

const longestMs = 280_000;
export const timeout = 2 * longestMs + 20_000;

type Line = Readonly<Record<string, unknown>>;

const test = suite('the agent where debugfs is not mounted, as the chart runs it, on Debian 6.1');
const registrar = `${PACKAGE}/test/registrar.mjs`;
let lines: readonly Line[] = [];

/** Of one tier: who may read all memory before and after something is protected, and what a change of the mode does. */
const ofTier = (tier: 1 | 2, settings: string) => `
  ${settings} SVC_AGENT_TIERS=${tier} SVC_AGENT_SOCKET=/tmp/a.sock SVC_AGENT_HEALTH=127.0.0.1:9090 \\
    SVC_AGENT_CANARY_INTERVAL=200ms svc run agent >/tmp/log 2>&1 &
  agent=$!
  until grep -q '"listening"' /tmp/log; do sleep 0.2; done
  read_all $0 ${tier} nothing
  mkfifo /tmp/stay; sleep 1000 >/tmp/stay & stay=$!
  node ${registrar} /tmp/a.sock secret </tmp/stay >/tmp/registered &
  until grep -q child /tmp/registered; do sleep 0.2; done
  read_all $0 ${tier} something
  preempt full 2
  preempt voluntary 3
  kill $stay $agent; wait $agent
  cat /tmp/log; echo; rm -f /tmp/stay /tmp/registered /tmp/log`;

const script = `
  read_all() {
    if head -c 64 /proc/kcore >/tmp/core 2>/dev/null; then outcome=read; else outcome=denied; fi
    echo "{\\"tier\\":$2,\\"protected\\":\\"$3\\",\\"kcore\\":\\"$outcome\\"}"
  }
  preempt() {
    mount -t debugfs none /sys/kernel/debug
    echo $1 >/sys/kernel/debug/sched/preempt
    umount /sys/kernel/debug
    until [ $(grep -c '"guard.tier"' /tmp/log) -ge $2 ]; do sleep 0.2; done
  }
  umount /sys/kernel/debug 2>/dev/null
  ${ofTier(1, '')}
  svc run agent --unload >/dev/null 2>&1
  ${ofTier(2, 'SVC_AGENT_GUARD_KERNEL_MEMORY=false')}
  exit 0`;

test.before(async () => {
  const program = fileURLToPath(new URL('../fixtures/registrar.ts', import.meta.url));
  const { records, status, stdout, stderr } = await bootAgainWhenStuck({
    ...{ script, timeoutMs: longestMs },
    files: { [registrar]: await guestProgram(program) },
  });
  assert.is(status, 0, stdout + stderr);
  lines = records;
});

const attached = (tier: number) =>
  lines.filter(({ event, tier: own }) => event === 'guard.attached' && own === tier);
const kcore = (tier: number) =>
  lines.filter((line) => 'kcore' in line && line['tier'] === tier).map((line) => line['kcore']);

for (const tier of [1, 2]) {
  test(`attaches nothing to every call on tier ${tier}, because the kernel itself says how it preempts`, () => {
    const [first] = attached(tier);
    assert.is(first?.['because'], 'preempt=voluntary (preempt_dynamic_mode)');
    assert.is(first?.['passable'], false);
    assert.not.match(String(first?.['programs']), /call_not_denied/);
    assert.match(String(first?.['programs']), /file_open/);
  });

  test(`notices on tier ${tier} that the mode is changed, and says only meanwhile that it does not enforce`, () => {
    const [, second, third] = attached(tier);
    assert.is(second?.['because'], 'preempt=full (preempt_dynamic_mode)');
    assert.match(String(second?.['programs']), /call_not_denied/);
    assert.is(third?.['because'], 'preempt=voluntary (preempt_dynamic_mode)');
    const told = lines.filter(({ event, tier: own }) => event === 'guard.tier' && own === tier);
    assert.equal(
      told.map(({ enforcing }) => enforcing),
      [true, false, true],
    );
    assert.match(String(told[1]?.['reason']), /can bypass the programs.*reactiveKill is off/);
  });
}

test('refuses /proc/kcore only while something is protected', () =>
  assert.equal(kcore(1), ['read', 'denied']));

test('leaves /proc/kcore alone where it is told to', () => assert.equal(kcore(2), ['read', 'read']));

test('kills nobody', () => assert.is(lines.filter(({ event }) => event === 'hit.killed').length, 0));

test.run();
