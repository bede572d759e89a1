interface LoadedPlugin {
  readonly name: string;
  readonly version: string;
  readonly type: string;
}

/** A plugin as errors name it: name and version; undefined for what is svc's own. */
export function pluginLabel(plugin: LoadedPlugin | undefined): string | undefined {
  return plugin && /^(user|link)$/.test(plugin.type) ? `${plugin.name} ${plugin.version}` : undefined;
}

/**
 * The level of what `svc/plugin` offers. It goes up when something is taken away or changes its meaning, so that a plugin
 * made for another level is refused; what is only added leaves it as it is.
 */
export const apiLevel = 1;
