import { settingSummary } from '../../../src/runtime/settings/setting.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, code, codes, lines } from '../operator/cell.ts';
import { type Command, commands, type Flag, typed } from './manifest.ts';
import { type SettingSet, settingSets, settingsOf } from './setting-sets.ts';
import { folderFlags } from './wrapper-flags.ts';

/** Every command with every argument and flag, as the shipped manifest has them. */
export async function commandsPage(): Promise<string[]> {
  const sets = await settingSets();
  return [
    '# Commands and flags',
    '',
    'Every command has `--help`; `svc --version` shows the version. Flags with a variable are settings: their values are in',
    '[Variables](variables.md).',
    ...commands().flatMap((command) => sectionOf(command, sets)),
    ...['', '## svc-wrapper', ''],
    ...['The flags of `svc run wrapper` except `--config`, and these, which must be given alone:', ''],
    ...markdownTable(
      ['flag', 'meaning'],
      folderFlags().map(({ flag, meaning }) => [code(`${flag} <folder>`), cell(meaning)]),
    ),
  ];
}

function sectionOf(command: Command, sets: readonly SettingSet[]): string[] {
  const variables = new Map(settingsOf(command, sets).map((setting) => [settingSummary(setting), setting]));
  const flags = Object.values(command.flags).filter(({ hidden }) => !hidden);
  const rows = flags.sort(byName).map((flag) => {
    const setting = variables.get(flag.summary ?? '');
    const meaning = setting?.summary ?? flag.summary ?? flag.description ?? '';
    return [lines(formOf(flag), code(setting?.variable ?? '')), `${cell(meaning)}${factsOf(flag)}`];
  });
  const table = rows.length > 0 ? ['', ...markdownTable(['flag, variable', 'meaning'], rows)] : [];
  return ['', `## ${typed(command)}`, '', cell(command.summary ?? ''), ...argumentsOf(command), ...table];
}

const byName = (a: Flag, b: Flag) => (a.name < b.name ? -1 : 1);

function argumentsOf({ args }: Command): string[] {
  const rows = Object.values(args).map(({ name, description }) => [code(name), cell(description ?? '')]);
  return rows.length > 0 ? ['', ...markdownTable(['argument', 'meaning'], rows)] : [];
}

function formOf({ char, name, type, options, helpValue }: Flag): string {
  const value = (isLong(options) ? undefined : options?.join('|')) ?? helpValue ?? '<value>';
  const long = code(type === 'option' ? `--${name} ${value}` : `--${name}`);
  return char === undefined ? long : `${code(`-${char}`)}, ${long}`;
}

/** Words that would make the first column too wide stand in the second. */
const isLong = (options: readonly string[] = []): boolean => options.join('|').length > 40;

function factsOf({ required, multiple, options = [], default: given, dependsOn, exclusive }: Flag): string {
  const facts = [
    isLong(options) ? `one of ${codes(options)}` : '',
    required ? 'required' : '',
    multiple ? 'can be repeated' : '',
    typeof given === 'string' ? `default ${code(given)}` : '',
    dependsOn ? `only with ${codes(dependsOn.map((name) => `--${name}`))}` : '',
    exclusive ? `not with ${codes(exclusive.map((name) => `--${name}`))}` : '',
  ].filter((fact) => fact !== '');
  return facts.length > 0 ? ` (${facts.join('; ')})` : '';
}
