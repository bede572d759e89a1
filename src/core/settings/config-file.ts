import type { Setting, Settings } from './setting.ts';
import { hint } from './suggest.ts';

/** A configuration file as read: every scalar is still text. */
export interface ConfigFile {
  readonly path: string;
  readonly content: unknown;
}

/** The entries for one component, and what is wrong with their place or form. */
export interface ConfigSection {
  /** For messages: `svc.yaml, proxy`. */
  readonly place: string;
  readonly texts: ReadonlyMap<string, string>;
  readonly mistakes: readonly string[];
}

/** Key of a setting in its section: its flag, or else its variable as `vault-token`. */
export function fileKey(setting: Setting<unknown>): string {
  return setting.flag ?? setting.variable.toLowerCase().replaceAll('_', '-');
}

/** Reads the section `name` of a file whose top level holds one section a component. */
export function sectionOf(file: ConfigFile, name: string, settings: Settings): ConfigSection {
  const { path, content } = file;
  if (content === null || content === undefined || content === '')
    return sectionFrom(path, name, {}, [], settings);
  if (!isMapping(content))
    return sectionFrom(path, name, {}, [`${path}: should be sections such as ${name}:`], settings);
  const mistakes = topLevelMistakes(path, content, name);
  const section = content[name];
  return sectionFrom(path, name, isMapping(section) ? section : {}, mistakes, settings);
}

function topLevelMistakes(path: string, content: Record<string, unknown>, name: string): string[] {
  const misplaced = Object.keys(content)
    .filter((key) => !isMapping(content[key]) && content[key] !== '')
    .map((key) => `${path}, ${key}: should be a section with keys of its own, such as ${name}:`);
  const mistyped = Object.hasOwn(content, name)
    ? []
    : Object.keys(content)
        .filter((key) => isMapping(content[key]) && hint(key, [name]) !== '')
        .map((key) => `${path}, ${key}: unknown section${hint(key, [name])}`);
  return [...misplaced, ...mistyped];
}

function sectionFrom(
  path: string,
  name: string,
  section: Record<string, unknown>,
  found: readonly string[],
  settings: Settings,
): ConfigSection {
  const place = `${path}, ${name}`;
  const known = Object.values(settings).map(fileKey);
  const mistakes = [...found];
  const texts = new Map<string, string>();
  for (const [key, value] of Object.entries(section)) {
    const text = asText(value);
    if (!known.includes(key)) mistakes.push(`${place}.${key}: unknown key${hint(key, known)}`);
    else if (text === undefined)
      mistakes.push(`${place}.${key}: should be one value or a list of values without commas`);
    else texts.set(key, text);
  }
  return { place, texts, mistakes };
}

/** A list becomes the comma-separated form that variables and flags have. */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  return value.every((item) => typeof item === 'string' && !item.includes(',')) ? value.join(',') : undefined;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
