import { readFileSync } from 'node:fs';

export interface Flag {
  readonly name: string;
  readonly char?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly type: 'boolean' | 'option';
  readonly helpValue?: string;
  readonly options?: readonly string[];
  readonly default?: unknown;
  readonly required?: boolean;
  readonly multiple?: boolean;
  readonly hidden?: boolean;
  readonly dependsOn?: readonly string[];
  readonly exclusive?: readonly string[];
}

export interface Command {
  readonly id: string;
  readonly summary?: string;
  readonly description?: string;
  readonly hidden?: boolean;
  readonly flags: Readonly<Record<string, Flag>>;
  readonly args: Readonly<Record<string, { readonly name: string; readonly description?: string }>>;
}

const file = new URL('../../../oclif.manifest.json', import.meta.url);

/** The commands as they are shipped, by their names. */
export function commands(): readonly Command[] {
  const { commands } = JSON.parse(readFileSync(file, 'utf8')) as { commands: Record<string, Command> };
  return Object.values(commands).filter(({ hidden }) => !hidden);
}

/** As it is typed: `svc run proxy`. */
export const typed = ({ id }: Command): string => `svc ${id.replaceAll(':', ' ')}`;
