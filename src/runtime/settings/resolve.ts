import { cut } from '../bounds/foreign-text.ts';
import { exitStatus, SvcError } from '../errors.ts';
import { type Resolved, type Setting, SettingMistake, type Settings } from './setting.ts';

/** Rules between settings, as in `Component.check`. */
export type SettingsCheck<S extends Settings> = (config: Resolved<S>) => readonly string[];

/**
 * Resolves each setting: flag before variable before file before default.
 * @throws SvcError CONFIG_INVALID (exit 78) whose details list every error
 */
export function resolveSettings<S extends Settings>(
  settings: S,
  sources: Sources,
  check?: SettingsCheck<S>,
): Resolved<S> {
  const values: Record<string, unknown> = {};
  const errors = [...(sources.file?.errors ?? [])];
  const unusable = new Set<string>();
  for (const [key, setting] of Object.entries(settings)) {
    const reading = read(setting, findGiven(setting, sources));
    values[key] = reading.value;
    if (reading.error === undefined) continue;
    unusable.add(key);
    errors.push(reading.error);
  }
  const config = values as Resolved<S>;
  errors.push(...(outcome(() => check?.(guarded(config, unusable))) ?? []));
  if (errors.length > 0) throw invalidConfig(errors);
  return config;
}

interface Reading {
  readonly value?: unknown;
  readonly error?: string;
}

function read(setting: Setting<unknown>, given: Given | undefined): Reading {
  if (given === undefined) return setting.required ? { error: missing(setting) } : {};
  try {
    return { value: setting.parse(given.text) };
  } catch (error) {
    return { error: wrongValue(setting, given, error) };
  }
}

function missing({ variable, flag, expects }: Setting<unknown>): string {
  return `${variable}${flag === undefined ? '' : ` (--${flag})`}: required, should be ${expects}`;
}

/** CONFIG_INVALID (exit 78) with one line for each error. */
export function invalidConfig(errors: readonly string[]): SvcError {
  return new SvcError('CONFIG_INVALID', `The configuration has ${errorCount(errors)}`, {
    nextStep: 'Fix what is listed and start again.',
    exitStatus: exitStatus.config,
    details: errors,
  });
}

/** A rule across settings: returns an error that begins with the variable's name, or nothing. */
export type Rule<C> = (config: C) => string | undefined;

/** Thrown if a rule reads a setting that has an error of its own. */
export class UnusableSetting extends Error {
  override readonly name = 'UnusableSetting';
}

/** Errors found by the rules. A rule that needs an invalid setting is skipped, so that no error is reported twice. */
export function applyRules<C>(config: C, rules: readonly Rule<C>[]): string[] {
  return rules.map((rule) => outcome(() => rule(config))).filter((found) => found !== undefined);
}

export function outcome<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof UnusableSetting) return undefined;
    throw error;
  }
}

/** The resolved values; reading one of `unusable` throws UnusableSetting. */
export function guarded<C extends object>(values: C, unusable: ReadonlySet<string>): C {
  return new Proxy(values, {
    get(target, key) {
      if (typeof key === 'string' && unusable.has(key)) throw new UnusableSetting(key);
      return Reflect.get(target, key);
    },
  });
}

/** `<place>: should be …, is "…"`, followed by the parser's own reason if it adds something. */
export function wrongValue(
  { expects, secret }: Pick<Setting<unknown>, 'expects' | 'secret'>,
  { place, text }: Given,
  error: unknown,
): string {
  const reason =
    error instanceof SettingMistake && !expects.includes(error.message) ? ` (${error.message})` : '';
  const value = secret ? '' : `, is ${shown(text)}`;
  return `${place}: should be ${expects}${reason}${value}`;
}

const maxLength = 60;

/**
 * Formats a given value for a message: quoted, control characters escaped, URL credentials and private keys masked,
 * truncated if long.
 */
function shown(value: string): string {
  const masked = value.replace(/\/\/[^/@\s]*@/g, '//***@').replace(/age-secret-key-1[0-9a-z]*/gi, '***');
  return JSON.stringify(cut(masked, maxLength));
}

/** `an error` or `3 errors`, as a heading of their list. */
export const errorCount = ({ length }: readonly string[]): string =>
  length === 1 ? 'an error' : `${length} errors`;

/** Sources of values in order of precedence; a setting's default comes last. */
export interface Sources {
  /** By flag name; `true` and `false` for a flag without a value. */
  readonly flags?: Readonly<Record<string, string | boolean | undefined>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly file?: ConfigSection | undefined;
}

/** A value as text, and its place for messages. */
interface Given {
  readonly text: string;
  readonly place: string;
}

/** The value with the highest precedence; undefined if there is none. */
export function findGiven(setting: Setting<unknown>, sources: Sources): Given | undefined {
  return (
    fromFlag(setting, sources) ??
    fromVariable(setting, sources) ??
    fromFile(setting, sources) ??
    fromDefault(setting)
  );
}

function fromFlag({ flag, variable }: Setting<unknown>, { flags }: Sources): Given | undefined {
  const value = flag === undefined ? undefined : flags?.[flag];
  return value === undefined ? undefined : { text: String(value), place: `--${flag} (${variable})` };
}

function fromVariable(setting: Setting<unknown>, { env }: Sources): Given | undefined {
  return unlessEmpty(setting, env?.[setting.variable], setting.variable);
}

function fromFile(setting: Setting<unknown>, { file }: Sources): Given | undefined {
  const key = fileKey(setting);
  return unlessEmpty(setting, file?.texts.get(key), `${file?.place}.${key} (${setting.variable})`);
}

function fromDefault({ fallback, variable }: Setting<unknown>): Given | undefined {
  return fallback === undefined ? undefined : { text: fallback, place: `${variable} (default)` };
}

function unlessEmpty(setting: Setting<unknown>, text: string | undefined, place: string): Given | undefined {
  return text === undefined || (text === '' && setting.admitsEmpty !== true) ? undefined : { text, place };
}

/** A parsed configuration file, with all scalars still text. */
export interface ConfigFile {
  readonly path: string;
  readonly content: unknown;
}

/** The entries for one component, and errors in their place or form. */
export interface ConfigSection {
  /** For messages: `svc.yaml, proxy`. */
  readonly place: string;
  readonly texts: ReadonlyMap<string, string>;
  readonly errors: readonly string[];
}

/** Key of a setting in its section: its flag, or else its variable in the form `vault-token`. */
export function fileKey(setting: Setting<unknown>): string {
  return setting.flag ?? setting.variable.toLowerCase().replaceAll('_', '-');
}

/** Reads the section `name` of a file with one top-level section for each component. */
export function sectionOf(file: ConfigFile, name: string, settings: Settings): ConfigSection {
  const { path, content } = file;
  if (content === null || content === undefined || content === '')
    return sectionFrom(path, name, {}, [], settings);
  if (!isMapping(content))
    return sectionFrom(path, name, {}, [`${path}: should be sections such as ${name}:`], settings);
  const errors = topLevelErrors(path, content, name);
  const section = content[name];
  return sectionFrom(path, name, isMapping(section) ? section : {}, errors, settings);
}

function topLevelErrors(path: string, content: Record<string, unknown>, name: string): string[] {
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
  const errors = [...found];
  const texts = new Map<string, string>();
  for (const [key, value] of Object.entries(section)) {
    const text = asText(value);
    if (!known.includes(key)) errors.push(`${place}.${key}: unknown key${hint(key, known)}`);
    else if (text === undefined)
      errors.push(`${place}.${key}: should be one value or a list of values without commas`);
    else texts.set(key, text);
  }
  return { place, texts, errors };
}

/** Joins a list by commas, as in variables and flags. */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  return value.every((item) => typeof item === 'string' && !item.includes(',')) ? value.join(',') : undefined;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The time to compare is quadratic in the length. */
const maxTypo = 64;

/**
 * The candidate that a mistyped word most likely means; undefined if none is close.
 * @param farthest maximum edit distance
 */
export function nearest(
  word: string,
  candidates: readonly string[],
  farthest = Math.max(1, Math.floor(word.length / 3)),
): string | undefined {
  if (word.length > maxTypo) return undefined;
  const [best] = candidates
    // the difference in length is a lower bound of the distance, and cheap for any length
    .filter((candidate) => Math.abs(candidate.length - word.length) <= farthest)
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= farthest ? best.candidate : undefined;
}

/** ` (did you mean …?)` or nothing. */
export function hint(word: string, candidates: readonly string[]): string {
  const guess = nearest(word, candidates);
  return guess === undefined ? '' : ` (did you mean ${guess}?)`;
}

/** Levenshtein distance, row by row. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (letter === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
