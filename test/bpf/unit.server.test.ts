import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runCommand } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { root } from './clang.ts';
import { compileCases } from './native/compile.ts';

/** libbpf's names of architectures; the programs run on this one, with the system calls of the other. */
const architectures = ['x86', 'arm64'];
const tiers = ['LSM', 'TRACEPOINT'];

interface Case {
  readonly name: string;
  /** Empty where it went well. */
  readonly why: string;
}

interface Run {
  readonly cases: readonly Case[];
  /** How many the program says that it has. */
  readonly count: number;
  readonly status: number | null;
  readonly stderr: string;
}

async function runCases(architecture: string, tier: string, folder: string): Promise<Run> {
  const program = await compileCases(architecture, tier, folder);
  const { stdout, stderr, status } = await runCommand(program, [], root);
  const cases = stdout.split('\n').flatMap((line) => {
    const [, name, why = ''] = /^(?:not ok|ok) ([^\n]*?)(?:: (.*))?$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, why: line.startsWith('not ok') ? why || 'no reason' : '' }];
  });
  return { cases, count: Number(/^(\d+) cases$/m.exec(stdout)?.[1]), status, stderr };
}

const folder = temporaryFolder('bpf-cases');
const runs = await Promise.all(
  architectures.flatMap((architecture) =>
    tiers.map(async (tier) => ({
      name: `${tier}, system calls of ${architecture}`,
      ...(await runCases(architecture, tier, folder.path)),
    })),
  ),
);
await folder.remove();

for (const { name: what, cases, count, status, stderr } of runs) {
  const test = suite(`BPF programs, ${what}`);
  test('all cases are run', () => {
    assert.is(status, 0, stderr);
    assert.ok(count > 100);
    assert.is(cases.length, count);
  });
  for (const { name, why } of cases) test(name, () => assert.is(why, ''));
  test.run();
}
