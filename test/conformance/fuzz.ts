import { readdirSync } from 'node:fs';
import { formatTable } from '../../bench/harness/table.ts';
import { fuzz as fuzzed, strictCpuMs, type WorstCost } from '../support/untrusted-inputs/fuzz.ts';
import type { UntrustedInput } from '../support/untrusted-inputs/types.ts';
import type { Part, Report } from './part.ts';

const folder = new URL('../support/untrusted-inputs/', import.meta.url);

/** What `npm test` does for seconds, with a stricter bound of time: inputs that know the structure, and an oracle that counts memory and time. */
export const fuzz: Part = {
  name: 'fuzz',
  summary:
    'made-up inputs for every parser of what comes from outside: memory by their size, time, only refusals',
  async run(report, { minutes, seed, only }) {
    const isWanted = ({ name }: UntrustedInput) => only?.some((part) => name.includes(part)) ?? true;
    const inputs = (await allInputs()).filter(isWanted);
    const milliseconds = (minutes * 60_000) / inputs.length;
    const rows = inputs.flatMap((input) => {
      const worst = judge(report, input, milliseconds, seed);
      return worst === undefined ? [] : [rowOf(worst)];
    });
    const columns = ['inputs', 'bytes of heap a byte', 'CPU ms'];
    report.say(formatTable({ title: 'The worst input of each parser', columns, rows }));
  },
};

/** Every module of the folder that has any. */
async function allInputs(): Promise<UntrustedInput[]> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts'));
  const modules: { readonly inputs?: readonly UntrustedInput[] }[] = await Promise.all(
    names.map((name) => import(new URL(name, folder).href)),
  );
  return modules.flatMap(({ inputs = [] }) => inputs);
}

function judge(
  report: Report,
  input: UntrustedInput,
  milliseconds: number,
  seed: number,
): WorstCost | undefined {
  const what = `${input.name}, from a ${input.from}`;
  try {
    const [worst] = fuzzed([input], { milliseconds, seed, cpuMs: strictCpuMs });
    report.check(what, true, `${worst?.runs} inputs`);
    return worst;
  } catch (error) {
    report.check(what, false, error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

const rowOf = ({ name, runs, heapPerByte, cpuMs }: WorstCost) => ({
  name,
  cells: [runs, Math.max(0, heapPerByte).toFixed(1), cpuMs.toFixed(0)],
});
