import { fileURLToPath } from 'node:url';
import { packageFolder } from '../component/package-folder.ts';
import { exitStatus, messageOf, SvcError } from '../errors.ts';
import { pluginLabel } from '../plugin-host.ts';
import { painter, type Style } from './terminal.ts';

/** An error as shown to people and scripts. Never contains argv, a stack or the error's own fields. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details: readonly string[];
  readonly nextStep: string;
  readonly exitStatus: number;
}

const USAGE_STATUS = 2;
const REPORT = 'This is a defect of svc: please report it with what the command prints under SVC_DEBUG=1.';

/** The part that oclif adds to its own errors. */
export interface OclifError extends Error {
  readonly oclif: { readonly exit?: number };
}

export function isOclifError(error: unknown): error is OclifError {
  return error instanceof Error && typeof (error as Partial<OclifError>).oclif === 'object';
}

/**
 * Classifies an error as the user's to fix (with its next step) or ours (asking for a report).
 * @param plugin the command's plugin: its defects are its authors', and a module that cannot be loaded is not wrong
 *   usage
 */
export function describeFailure(error: unknown, commandLine: string, plugin?: string): Failure {
  if (error instanceof SvcError) {
    const { code, message, details, nextStep, exitStatus } = error;
    return { code, message, details, nextStep, exitStatus };
  }
  const missing = (error as NodeJS.ErrnoException | undefined)?.code === 'MODULE_NOT_FOUND';
  if (isOclifError(error) && !missing) return usageFailure(error, commandLine);
  const blamed = plugin === undefined ? ours : theirs(plugin);
  return { message: messageOf(error), details: [], ...blamed };
}

const ours = { code: 'INTERNAL', nextStep: REPORT, exitStatus: exitStatus.internal };

const theirs = (plugin: string) => ({
  code: 'PLUGIN_BROKEN',
  nextStep:
    `This is a defect of the plugin ${plugin}: \`svc plugins update\` may fix it; ` +
    'else report it to its authors with what the command prints under SVC_DEBUG=1.',
  exitStatus: exitStatus.internal,
});

/** oclif's message starts with the error; its own hint after that is replaced by the next step. */
function usageFailure(error: OclifError, commandLine: string): Failure {
  const [message = '', ...rest] = error.message
    .split('\n')
    .filter((line) => !line.startsWith('See more help'));
  return {
    code: 'USAGE',
    message: withoutValues(message),
    details: rest.filter((line) => line.trim() !== ''),
    nextStep: `Run \`${commandLine} --help\` to see what it takes.`,
    exitStatus: error.oclif.exit ?? USAGE_STATUS,
  };
}

/** An unknown flag is shown without its value, which may be a secret. */
function withoutValues(message: string): string {
  return message.replace(/(--[\w-]+)=.*/g, '$1');
}

/** The failure as text for standard error. */
export function formatFailure(failure: Failure, paint: (style: Style, text: string) => string): string {
  const head = `${paint('red', 'Error:')} ${failure.message} ${paint('dim', `(${failure.code})`)}`;
  const details = failure.details.map((detail) => `  ${detail}`);
  return [head, ...details, `${paint('bold', 'Next:')}  ${failure.nextStep}`].join('\n');
}

/** The failure as shown by `--json`. */
export function failureJson({ code, message, details, nextStep }: Failure): object {
  return { error: { code, message, nextStep, ...(details.length > 0 ? { details } : {}) } };
}

/** For errors that no command handled: writes to standard error and exits with the error's status. */
export async function endWithFailure(error: unknown): Promise<never> {
  if (isOclifError(error) && (error as NodeJS.ErrnoException).code === 'EEXIT')
    process.exit(error.oclif.exit ?? 0);
  const known = describeFailure(error, 'svc');
  const failure = known.code === 'INTERNAL' ? describeFailure(error, 'svc', await pluginThatFailed()) : known;
  process.stderr.write(`${formatFailure(failure, painter(process.stderr, process.env))}\n`);
  if (process.env['SVC_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exit(failure.exitStatus);
}

async function pluginThatFailed(): Promise<string | undefined> {
  return pluginCalledBy(process.argv.slice(2), fileURLToPath(packageFolder())).catch(() => undefined);
}

/** The plugin that the arguments call, for errors that do not reveal their origin. */
async function pluginCalledBy(argv: readonly string[], root: string): Promise<string | undefined> {
  const { Config } = await import('@oclif/core/config');
  const config = await Config.load(root);
  const end = argv.findIndex((word) => word.startsWith('-'));
  const words = end === -1 ? argv : argv.slice(0, end);
  const ids = words.map((_, index) => words.slice(0, words.length - index).join(':'));
  const command = ids.map((id) => config.findCommand(id)).find((found) => found !== undefined);
  return pluginLabel(config.plugins.get(command?.pluginName ?? ''));
}
