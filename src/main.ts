import { run } from '@oclif/core/run';
import { endWithFailure } from './runtime/cli/end-with-failure.ts';
import { ignoreBrokenPipes } from './runtime/cli/terminal.ts';

ignoreBrokenPipes(process.stdout, process.stderr);
await run(process.argv.slice(2), import.meta.url).catch(endWithFailure);
