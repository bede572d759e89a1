import type { Setting } from '../../core/settings/setting.ts';
import { settingSummary } from '../../core/settings/summary.ts';
import { wrapperSettings } from './settings.ts';

const head = `Start an application with its secrets.

USAGE
  $ svc-wrapper --secrets=<paths> [--<flag>=<value>]... -- <command> [args]
  $ svc-wrapper --copy-to=<folder>
  $ svc-wrapper --install-to=<folder>

Fetches secrets from the secrets server into protected memory, starts the command with them as environment
variables and through an inherited descriptor (SVC_SECRET_FD), and stays as its init: signals, exit codes,
renewal, rotation, health.

What stands after -- is taken literally and goes before SVC_ORIGINAL_CMD and SVC_ORIGINAL_ARGS. A flag goes
before its variable. The application does not inherit the variables that are listed here.

With --copy-to, which stands alone, the self-contained folder is copied into another and nothing is started.
With --install-to it is kept below another, each version in a folder of its own, and the link 'current' leads to
the newest at one go.

Exit status: that of the application, 128 + n for a signal n that ended it, 126 or 127 where it cannot be run.
Of the wrapper's own: 64 usage, 69 secrets server or agent unavailable, 71 memory protection refused,
77 permission denied, 78 configuration.`;

/** What `svc-wrapper --help` prints. */
export function helpText(): string {
  const settings: Setting<unknown>[] = Object.values(wrapperSettings);
  const flags = settings.filter(({ flag }) => flag !== undefined).map(flagEntry);
  const variables = settings.filter(({ flag }) => flag === undefined).map(variableEntry);
  const others = ['  --help\n      Show this.', '  --version\n      Show the version.'];
  return [head, '', 'FLAGS', ...flags, ...others, '', 'VARIABLES WITHOUT A FLAG', ...variables].join('\n');
}

function flagEntry(setting: Setting<unknown>): string {
  return `  --${setting.flag}${setting.switch ? '' : '=<value>'}\n      ${settingSummary(setting)}`;
}

function variableEntry(setting: Setting<unknown>): string {
  return `  ${setting.variable}\n      ${setting.summary}`;
}
