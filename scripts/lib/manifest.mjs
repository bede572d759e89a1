import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Plugin } from '@oclif/core';

export const MANIFEST = 'oclif.manifest.json';

/** The manifest of the commands in dist/, as text; throws when a command cannot be loaded. */
export async function generateManifest(root) {
  const plugin = new Plugin({
    root,
    ignoreManifest: true,
    errorOnManifestCreate: true,
    respectNoCacheDefault: true,
  });
  await plugin.load();
  const commands = Object.fromEntries(
    Object.entries(plugin.manifest.commands).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return `${JSON.stringify({ commands, version: plugin.manifest.version }, undefined, 2)}\n`;
}

/** The text of a generated file as it is committed; empty when it is absent. */
export function committed(root, name) {
  try {
    return readFileSync(join(root, name), 'utf8');
  } catch {
    return '';
  }
}
