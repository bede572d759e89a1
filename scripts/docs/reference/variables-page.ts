import type { Setting } from '../../../src/runtime/settings/setting.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, code, lines } from '../operator/cell.ts';
import { type Command, commands, typed } from './manifest.ts';
import { type SettingSet, settingSets, settingsOf } from './setting-sets.ts';
import { otherVariableTables } from './variables-beside.ts';

/** Every variable, of each command in turn, and those that are no settings. */
export async function variablesPage(): Promise<string[]> {
  const sets = await settingSets();
  return [
    '# Variables',
    '',
    'A setting comes from its flag, else its variable, else the file of `--config` (or `SVC_CONFIG`), else its default.',
    'An empty variable counts as unset, except where a value may be empty. All errors are reported at once, with',
    'status 78 (3 for commands that check).',
    '',
    'The file is YAML with a section for each command that has `--config`, named by the last word of the command. A key is',
    'the flag without its leading dashes or, without a flag, the variable in lower case with dashes:',
    '',
    '```yaml',
    'proxy:',
    '  upstream: https://s3.example.eu',
    '  vault-address: https://vault.example.eu:8200',
    '```',
    '',
    'Durations are those of Go: `30s`, `5m`, `1h30m`. Sizes: `64KiB`, `16MiB`, `8GiB`, or a number of bytes.',
    ...commands().flatMap((command) => sectionOf(command, sets)),
    ...otherVariableTables(),
  ];
}

function sectionOf(command: Command, sets: readonly SettingSet[]): string[] {
  const settings = settingsOf(command, sets);
  if (settings.length === 0) return [];
  const rows = settings.map((setting) => [
    lines(code(setting.variable), setting.flag === undefined ? '' : code(`--${setting.flag}`)),
    lines(cell(setting.summary), `value: ${cell(setting.expects)}`, defaultOf(setting)),
  ]);
  const head = ['variable, flag', 'meaning, value, default'];
  return ['', `## ${typed(command)}`, '', ...markdownTable(head, rows)];
}

function defaultOf({ required, fallback }: Setting<unknown>): string {
  if (required) return '**required**';
  if (fallback === '') return 'default: empty';
  return fallback === undefined ? '' : `default: ${code(fallback)}`;
}
