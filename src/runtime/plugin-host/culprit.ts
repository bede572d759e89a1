import { Config } from '@oclif/core/config';
import { pluginLabel } from './plugin-identity.ts';

/** The plugin whose command the arguments call; for errors that left no trace of who made them. */
export async function culprit(argv: readonly string[], root: string): Promise<string | undefined> {
  const config = await Config.load(root);
  const end = argv.findIndex((word) => word.startsWith('-'));
  const words = end === -1 ? argv : argv.slice(0, end);
  const ids = words.map((_, index) => words.slice(0, words.length - index).join(':'));
  const command = ids.map((id) => config.findCommand(id)).find((found) => found !== undefined);
  return pluginLabel(config.plugins.get(command?.pluginName ?? ''));
}
