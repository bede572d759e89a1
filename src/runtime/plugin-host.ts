import { readFileSync } from 'node:fs';
import module from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Style } from './cli/terminal.ts';
import { exitStatus, SvcError } from './errors.ts';

/**
 * Resolves `svc/plugin` to this svc for every plugin, wherever it is installed, so that shared state (errors, the
 * redaction of secrets) exists once.
 */
export function serveApi(): void {
  module.registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith('svc/') || context.parentURL === import.meta.url)
        return next(specifier, context);
      const packageFile = context.parentURL && module.findPackageJSON(context.parentURL);
      if (packageFile) checkPlugin(packageFile);
      return { url: import.meta.resolve(specifier), format: 'module', shortCircuit: true };
    },
  });
}

interface PluginPackage {
  readonly name?: string;
  readonly version?: string;
  readonly svc?: { readonly api?: unknown };
}

/**
 * Refuses a plugin made for another level of this API, which its package.json names: `"svc": {"api": 1}`.
 * @throws SvcError PLUGIN_INCOMPATIBLE
 */
export function checkPlugin(packageFile: string): void {
  const { name = packageFile, version = '', svc } = packageOf(packageFile);
  if (svc?.api === apiLevel) return;
  const plugin = `${name} ${version}`.trim();
  throw Number.isInteger(svc?.api) ? made(plugin, Number(svc?.api)) : undeclared(plugin);
}

/** A package.json without a name only declares the module type of a subfolder, in packages with both types. */
function packageOf(file: string): PluginPackage {
  const found = JSON.parse(readFileSync(file, 'utf8')) as PluginPackage;
  if (found.name !== undefined) return found;
  const above = module.findPackageJSON('..', pathToFileURL(file));
  return above === undefined || above === file ? found : packageOf(above);
}

function made(plugin: string, level: number): SvcError {
  const next =
    level > apiLevel
      ? 'Update svc, or install an earlier version of the plugin.'
      : 'Update it with `svc plugins update`, or ask its authors for a compatible version.';
  return incompatible(
    `The plugin ${plugin} was made for level ${level} of svc's API; this svc has level ${apiLevel}.`,
    next,
  );
}

function undeclared(plugin: string): SvcError {
  return incompatible(
    `The plugin ${plugin} does not say for which level of svc's API it was made.`,
    `Its authors add "svc": {"api": ${apiLevel}} to its package.json.`,
  );
}

function incompatible(message: string, nextStep: string): SvcError {
  return new SvcError('PLUGIN_INCOMPATIBLE', message, { nextStep, exitStatus: exitStatus.config });
}

/** A warning of oclif or Node. */
interface PluginWarning extends Error {
  /** Lines such as `plugin: name`, if a plugin's command could not be loaded. */
  readonly detail?: string;
}

type Paint = (style: Style, text: string) => string;

/** Reports which part of which plugin could not be loaded; passes other warnings on. */
export function explainPluginWarnings(screen: Pick<NodeJS.WriteStream, 'write'>, paint: Paint): void {
  const others = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning: PluginWarning) => {
    const text = describePluginWarning(warning);
    if (text === undefined) for (const show of others) show(warning);
    else screen.write(`${paint('yellow', 'Warning:')} ${text}\n`);
  });
}

/** The warning for people; undefined if it does not concern a plugin. */
function describePluginWarning({ detail = '' }: PluginWarning): string | undefined {
  const fact = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(detail)?.[1];
  const plugin = fact('plugin');
  if (plugin === undefined) return undefined;
  const command = /^findCommand \((.*)\)$/.exec(fact('task') ?? '')?.[1]?.replaceAll(':', ' ');
  const what = command === undefined ? '' : ` its command \`${command}\` is left out:`;
  const why = (fact('message') ?? 'it cannot be loaded').replace(/^\[MODULE_NOT_FOUND\] /, '');
  return `the plugin ${plugin}:${what} ${why}\n  Update it or svc, or remove it with \`svc plugins uninstall ${plugin}\`.`;
}

interface LoadedPlugin {
  readonly name: string;
  readonly version: string;
  readonly type: string;
}

/** A plugin's name and version for errors; undefined for svc's own commands. */
export function pluginLabel(plugin: LoadedPlugin | undefined): string | undefined {
  return plugin && /^(user|link)$/.test(plugin.type) ? `${plugin.name} ${plugin.version}` : undefined;
}

/**
 * Level of the API in `svc/plugin`. It is raised when something is removed or changes its meaning, so that plugins made
 * for another level are refused; additions leave it unchanged.
 */
export const apiLevel = 1;
