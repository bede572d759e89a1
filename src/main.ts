import { run } from '@oclif/core/run';
import { settings } from '@oclif/core/settings';
import { endWithFailure } from './runtime/cli/failure.ts';
import { ignoreBrokenPipes, painter } from './runtime/cli/terminal.ts';
import { explainPluginWarnings, serveApi } from './runtime/plugin-host.ts';

ignoreBrokenPipes(process.stdout, process.stderr);
// oclif asks for the login shell, which a user without an entry in passwd, as containers have them, does not have
process.env['SHELL'] ??= '/bin/sh';
// plugins are run as they were built: what oclif would compile at each start is not what their users get
settings.enableAutoTranspile = false;
serveApi();
explainPluginWarnings(process.stderr, painter(process.stderr, process.env));
await run(process.argv.slice(2), import.meta.url).catch(endWithFailure);
