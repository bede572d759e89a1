import { parseArgs } from 'node:util';
import { agentKernels } from './agent-kernels.ts';
import { agentMachines } from './agent-machines.ts';
import { agentSoak } from './agent-soak.ts';
import { applicationsPart } from './applications.ts';
import { auditMillion } from './audit-million.ts';
import { clients } from './clients.ts';
import { faultSoak } from './fault-soak.ts';
import { fuzz } from './fuzz.ts';
import { hostile } from './hostile.ts';
import { initFuzz } from './init-fuzz.ts';
import { largeObject } from './large-object.ts';
import { migrate } from './migrate.ts';
import { minioGoSuite } from './minio-go-suite.ts';
import { node } from './node.ts';
import { operatorFaults } from './operator-faults.ts';
import { operatorSoak } from './operator-soak.ts';
import type { Part, PartOptions } from './part.ts';
import { repetitions } from './repetitions.ts';
import { runParts } from './report.ts';
import { s3Suite } from './s3-suite.ts';
import { soak } from './soak.ts';
import { stores } from './stores.ts';
import { tenThousandParts } from './ten-thousand-parts.ts';
import { worst } from './worst.ts';
import { wrapperMachines } from './wrapper-machines.ts';
import { wrapperSoak } from './wrapper-soak.ts';

const PARTS: readonly Part[] = [
  ...[tenThousandParts, largeObject, soak, faultSoak, wrapperSoak, wrapperMachines, initFuzz],
  ...[agentSoak, agentMachines, agentKernels, node],
  ...[
    operatorSoak,
    operatorFaults,
    auditMillion,
    migrate,
    hostile,
    worst,
    fuzz,
    clients,
    stores,
    s3Suite,
    minioGoSuite,
    repetitions,
    applicationsPart,
  ],
];
const USAGE = [
  'Usage: npm run conformance [-- [--minutes N] [--seed N] [--objects N] [--cases N] [--from N] [--case N] [--store NAME] [--only NAME,…] [--write] [--keep] [part…]]',
  ...PARTS.map(({ name, summary }) => `  ${name}  ${summary}`),
  'Without a name, all of them. --minutes (10) and --seed (1) are of the soaks, worst and fuzz, --objects of audit-million (1000000) and migrate (100000),',
  '--cases (1000000 requests), --from (the number of its first case, 0) and --case (one case alone) of hostile,',
  '--store (versitygw or minio, both without it) of the suites,',
  '--only (some of them, by parts of their names) of applications, node, worst and fuzz, --write (records what they need) of applications,',
  '--keep (the node stays up, and runs the checks that lines of standard input name) of node.',
].join('\n');

const print = (text: string) => process.stdout.write(`${text}\n`);

interface Wish extends PartOptions {
  readonly parts: readonly Part[];
}

/** @throws Error naming the argument that is not understood */
function readWish(argv: string[]): Wish | undefined {
  const text = { type: 'string' } as const;
  const help = { type: 'boolean', short: 'h' } as const;
  const options = {
    minutes: text,
    seed: text,
    objects: text,
    cases: text,
    from: text,
    case: text,
    only: text,
    write: { type: 'boolean' },
    keep: { type: 'boolean' },
    store: text,
    help,
  } as const;
  const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options });
  if (values.help) return undefined;
  const unknown = positionals.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0) throw new Error(`There is no part named ${unknown.join(', ')}.`);
  const parts = positionals.length === 0 ? PARTS : PARTS.filter(({ name }) => positionals.includes(name));
  return {
    parts,
    minutes: positive('minutes', values.minutes ?? '10'),
    seed: positive('seed', values.seed ?? '1'),
    objects: values.objects === undefined ? undefined : positive('objects', values.objects),
    requests: positive('cases', values.cases ?? '1000000'),
    from: whole('from', values.from ?? '0'),
    store: storeNamed(values.store),
    case: values.case === undefined ? undefined : whole('case', values.case),
    only: values.only?.split(','),
    write: values.write ?? false,
    keep: values.keep ?? false,
  };
}

function storeNamed(text: string | undefined): Wish['store'] {
  if (text === undefined || text === 'versitygw' || text === 'minio') return text;
  throw new Error(`--store takes versitygw or minio, not ${text}.`);
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number <= 0)
    throw new Error(`--${name} takes a number above 0, not ${text}.`);
  return number;
}

function whole(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`--${name} takes a whole number, not ${text}.`);
}

async function main(argv: string[]): Promise<number> {
  let wish: Wish | undefined;
  try {
    wish = readWish(argv);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`);
    return 2;
  }
  if (!wish) {
    print(USAGE);
    return 0;
  }
  const { passed, failed } = await runParts(wish.parts, wish, print);
  print(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
