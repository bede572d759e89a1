import { readOptions } from './options.ts';
import { runTests } from './run.ts';
import { stopAll } from './run-file.ts';
import { prepareTestbed, stopBuilding } from './testbed.ts';

const print = (text: string) => process.stdout.write(`${text}\n`);

for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.once(signal, () => {
    stopAll();
    stopBuilding();
    process.exit(128 + number);
  });
}

try {
  const options = readOptions(process.argv.slice(2), process.env);
  process.exitCode = await runTests(options, print, await prepareTestbed(options));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
