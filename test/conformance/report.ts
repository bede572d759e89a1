import { performance } from 'node:perf_hooks';
import type { Part, PartOptions, Report } from './part.ts';

export interface Counts {
  passed: number;
  failed: number;
}

/** Runs one part after the other, whatever becomes of each. @returns how many checks held, and how many did not */
export async function runParts(
  parts: readonly Part[],
  options: PartOptions,
  print: (text: string) => void,
): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0 };
  for (const part of parts) {
    const begun = performance.now();
    print(`== ${part.name}: ${part.summary}`);
    await runPart(part, options, reportTo(counts, print));
    print(`   ${part.name} took ${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
  }
  return counts;
}

async function runPart(part: Part, options: PartOptions, report: Report): Promise<void> {
  try {
    await part.run(report, options);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    report.check(`${part.name} comes to its end`, false, text);
  }
}

function reportTo(counts: Counts, print: (text: string) => void): Report {
  return {
    say: (text) => print(text.replace(/^/gm, '   ')),
    check(what, holds, detail) {
      counts[holds ? 'passed' : 'failed'] += 1;
      print(`${holds ? 'ok  ' : 'FAIL'} ${what}${detail ? `: ${detail}` : ''}`);
    },
  };
}
