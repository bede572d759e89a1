import { operatorSettings } from '../../../src/plugins/operator/settings.ts';
import type { Setting } from '../../../src/runtime/settings/setting.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, code, lines } from './cell.ts';

/** Every flag and variable of `svc run operator`. */
export function settingTable(): string[] {
  const rows = Object.values<Setting<unknown>>(operatorSettings).map((setting) => [
    lines(code(setting.variable), code(`--${setting.flag}`)),
    defaultOf(setting),
    cell(setting.summary),
  ]);
  return markdownTable(['variable, flag', 'default', 'meaning'], rows);
}

function defaultOf({ required, fallback }: Setting<unknown>): string {
  if (required) return 'required';
  return fallback === undefined ? 'none' : code(fallback);
}
