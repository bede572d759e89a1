import type { Child } from '../../../support/child.ts';
import type { CommandResult } from '../../../support/types.ts';
import { type BulkSetting, beginBulk, runBulk } from '../bulk-command.ts';

export const decrypt = (
  setting: BulkSetting,
  source: string,
  to: string,
  ...args: string[]
): Promise<CommandResult> => runBulk(setting, ['proxy', 'decrypt', source, '--to', to, ...args]);

/** The same, left running. */
export const beginDecrypt = (
  setting: BulkSetting,
  source: string,
  to: string,
  ...args: string[]
): Promise<Child> => beginBulk(setting, ['proxy', 'decrypt', source, '--to', to, ...args]);

export interface Report {
  readonly listed: number;
  readonly done: number;
  readonly skipped: number;
  readonly unencrypted: number;
  readonly bytes: number;
  readonly faultCount: number;
  readonly faults: readonly { readonly key: string; readonly reason: string }[];
  readonly renamed: readonly { readonly key: string; readonly path: string }[];
  readonly error?: { readonly code: string };
}

export const reportOf = ({ stdout, stderr }: CommandResult): Report => {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`no report: ${stdout}${stderr}`);
  }
};
