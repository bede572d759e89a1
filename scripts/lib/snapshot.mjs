export const SNAPSHOT = 'test/cli/commands.snapshot.txt';

function flagLine(flag) {
  const char = flag.char ? `-${flag.char}, ` : '';
  const value = flag.type === 'option' ? `=${flag.options ? flag.options.join('|') : 'value'}` : '';
  const facts = [flag.required && 'required', flag.multiple && 'repeatable', flag.hidden && 'hidden'].filter(
    Boolean,
  );
  const head = `${char}--${flag.allowNo ? '[no-]' : ''}${flag.name}${value}`;
  return `    ${[head, ...facts.map((fact) => `(${fact})`)].join(' ')}  ${flag.summary ?? flag.description ?? ''}`.trimEnd();
}

function argLine(arg) {
  return `    <${arg.name}>${arg.required ? ' (required)' : ''}  ${arg.description ?? ''}`.trimEnd();
}

function commandLines(command) {
  const name = command.id.replaceAll(':', ' ');
  const flags = Object.values(command.flags).sort((a, b) => (a.name < b.name ? -1 : 1));
  const aliases = command.aliases.length > 0 ? [`    aliases: ${command.aliases.join(', ')}`] : [];
  const head = `svc ${name}${command.hidden ? ' (hidden)' : ''}\n    ${command.summary ?? command.description ?? ''}`;
  return [head, ...aliases, ...Object.values(command.args).map(argLine), ...flags.map(flagLine)].join('\n');
}

/** The tree of commands with their arguments, flags and summaries: what users and scripts rely on. */
export function commandSnapshot(manifestText) {
  const { commands } = JSON.parse(manifestText);
  return `${Object.values(commands).map(commandLines).join('\n\n')}\n`;
}
