import type { Style } from '../cli/terminal.ts';

/** What oclif warns of, or Node. */
export interface PluginWarning extends Error {
  /** Lines such as `plugin: name`, where a command of a plugin could not be loaded. */
  readonly detail?: string;
}

type Paint = (style: Style, text: string) => string;

/** Says in words of ours which part of which plugin could not be loaded; leaves other warnings to those who show them. */
export function explainPluginWarnings(screen: Pick<NodeJS.WriteStream, 'write'>, paint: Paint): void {
  const others = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning: PluginWarning) => {
    const text = describePluginWarning(warning);
    if (text === undefined) for (const show of others) show(warning);
    else screen.write(`${paint('yellow', 'Warning:')} ${text}\n`);
  });
}

/** The warning as a person reads it; undefined where it is about no plugin. */
function describePluginWarning({ detail = '' }: PluginWarning): string | undefined {
  const fact = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(detail)?.[1];
  const plugin = fact('plugin');
  if (plugin === undefined) return undefined;
  const command = /^findCommand \((.*)\)$/.exec(fact('task') ?? '')?.[1]?.replaceAll(':', ' ');
  const what = command === undefined ? '' : ` its command \`${command}\` is left out:`;
  const why = (fact('message') ?? 'it cannot be loaded').replace(/^\[MODULE_NOT_FOUND\] /, '');
  return `the plugin ${plugin}:${what} ${why}\n  Update it or svc, or remove it with \`svc plugins uninstall ${plugin}\`.`;
}
