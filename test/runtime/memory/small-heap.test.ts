import { execFileSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { median } from '../../../bench/harness/median.ts';

const test = suite('small heap');
const module = new URL('../../../src/runtime/memory.ts', import.meta.url).href;

/** Bytes of heap that a process takes for work that leaves little behind. */
function heapAfterWork(prepare: string): number {
  const work = `const kept = [];
    for (let i = 0; i < 2e6; i++) { kept.push({ i }); if (kept.length > 2e5) kept.length = 0; }
    console.log(process.memoryUsage().heapTotal);`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', `${prepare}; ${work}`]));
}

/** Of three processes: when the last collection came is chance. */
const usually = (prepare: string) => median([1, 2, 3].map(() => heapAfterWork(prepare)));

test('garbage takes a fraction of the memory', () => {
  const small = usually(`(await import('${module}')).keepHeapSmall()`);
  const usual = usually('');
  assert.ok(small < 0.7 * usual, `${small} bytes of heap, and ${usual} as usual`);
});

test.run();
