/** A component that `svc run` can start. */
export interface ComponentEntry {
  readonly name: string;
  readonly summary: string;
  /** Name of the plugin that provides it; undefined for built-in components. */
  readonly plugin?: string;
}

interface CommandEntry {
  readonly id: string;
  readonly hidden?: boolean;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly pluginName?: string | undefined;
  readonly pluginType?: string | undefined;
}

const PREFIX = 'run:';

/** All commands below `run`, built-in or from plugins, sorted by name. */
export function componentsOf(commands: readonly CommandEntry[]): ComponentEntry[] {
  return commands
    .filter(({ id, hidden }) => id.startsWith(PREFIX) && !hidden)
    .map((command) => ({
      name: command.id.slice(PREFIX.length).replaceAll(':', ' '),
      summary: command.summary ?? command.description?.split('\n')[0] ?? '',
      ...(command.pluginType !== 'core' && command.pluginName ? { plugin: command.pluginName } : {}),
    }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

/** The output of `svc run`. */
export function componentTable(components: readonly ComponentEntry[], bin: string): string {
  if (components.length === 0) return 'No component is installed.';
  const width = Math.max(...components.map(({ name }) => name.length));
  const rows = components.map(({ name, summary, plugin }) =>
    `  ${name.padEnd(width)}  ${summary}${plugin ? ` (from ${plugin})` : ''}`.trimEnd(),
  );
  return [
    'Components:',
    ...rows,
    '',
    `Start one with \`${bin} run <component>\`; its flags: \`${bin} run <component> --help\`.`,
  ].join('\n');
}
