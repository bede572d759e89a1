/** Thrown by a parser: says what the value should be, never what it was (it may be a secret). */
export class SettingMistake extends Error {
  override readonly name = 'SettingMistake';
}

/**
 * One configuration value of a component. The order of precedence is
 * flag, variable, file (`--config`), default.
 */
export interface Setting<T> {
  /** Environment variable, the name used in messages. */
  readonly variable: string;
  /** Long flag without the dashes; absent for what must not stand on a command line. */
  readonly flag?: string;
  readonly summary: string;
  /** Turns the text into a value or throws SettingMistake. */
  readonly parse: (text: string) => T;
  /** What the value should be, as a phrase: "a Go duration such as 30s". */
  readonly expects: string;
  /** The value in help and completion: `json|text` where few are possible, `<path>` for a file or folder. */
  readonly helpValue?: string;
  /** Text parsed when nothing is given. Without it the setting is optional (undefined). */
  readonly fallback?: string;
  readonly required?: boolean;
  /** Never shown, not even in part. */
  readonly secret?: boolean;
  /** A flag without a value. */
  readonly switch?: boolean;
  /** The empty text is a value of its own; elsewhere an empty variable or file entry counts as not given. */
  readonly admitsEmpty?: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: a record of settings of different value types
export type Settings = Readonly<Record<string, Setting<any>>>;

/** A setting with a fallback or `required` always has a value; the others may be undefined. */
export type Resolved<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T>
    ? S[K] extends { fallback: string } | { required: true }
      ? T
      : T | undefined
    : never;
};
