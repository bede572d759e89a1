import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reasonLines } from '../../../../src/plugins/agent/bpf/object.ts';

const reasons = suite("the reason in a verifier's log");

reasons('is at the end, before the statistics', () => {
  const log = `reg type unsupported for arg#0 function f#12
0: R1=ctx() R10=fp0
; return *(int *)8; @ f.bpf.c:4
0: (b7) r1 = 8                        ; R1_w=8
1: (61) r0 = *(u32 *)(r1 +0)
R1 invalid mem access 'scalar'
processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0
`;
  assert.is(reasonLines(log).at(-1), "R1 invalid mem access 'scalar'");
  assert.is(reasonLines(log).length, 6);
});

reasons('is bounded, in lines and in their length', () => {
  const log = Array.from({ length: 1000 }, (_, line) => `${line} ${'x'.repeat(1000)}`).join('\n');
  const lines = reasonLines(log);
  assert.is(lines.length, 8);
  assert.ok(lines.every((line) => line.length <= 241));
  assert.ok(lines.at(-1)?.startsWith('999 '));
});

reasons('is missing where the verifier said nothing', () => {
  assert.equal(reasonLines(''), []);
  assert.equal(reasonLines('\n\n'), []);
});

reasons.run();
