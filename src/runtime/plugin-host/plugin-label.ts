interface LoadedPlugin {
  readonly name: string;
  readonly version: string;
  readonly type: string;
}

/** A plugin as errors name it: name and version; undefined for what is svc's own. */
export function pluginLabel(plugin: LoadedPlugin | undefined): string | undefined {
  return plugin && /^(user|link)$/.test(plugin.type) ? `${plugin.name} ${plugin.version}` : undefined;
}
