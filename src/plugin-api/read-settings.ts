import type { Resolved, Settings } from '../core/settings/setting.ts';
import type { Component } from '../runtime/component/contract.ts';
import type { RunOptions } from '../runtime/component/read-config.ts';

/**
 * The settings of a command that is no component, as `svc run` reads those of one: flag before variable before file
 * before default. Secret ones are kept out of every log from then on.
 * @param owner its name, which is also its section of the file; its settings, and what they need from each other
 * @throws SvcError CONFIG_INVALID (exit 78) that names every mistake at once
 */
export async function readSettings<S extends Settings>(
  owner: Pick<Component<S>, 'name' | 'settings' | 'check'>,
  options: RunOptions,
): Promise<Resolved<S>> {
  const { readConfig } = await import('../runtime/component/read-config.ts');
  return (await readConfig(owner, options)).own;
}
