/**
 * Schemas in a form that the compiler holds to a type: a member that is missing, superfluous, of another type, or
 * without a bound does not compile. `openApi` turns them into what a CustomResourceDefinition has.
 */
export type SchemaOf<T> = [T] extends [string]
  ? TextSchema<T>
  : [T] extends [number]
    ? NumberSchema
    : [T] extends [boolean]
      ? FlagSchema
      : [T] extends [readonly (infer E)[]]
        ? ListSchema<E>
        : string extends keyof T
          ? MapSchema<T[keyof T]>
          : ObjectSchema<T>;

interface Described {
  readonly description: string;
  /** Rules in CEL, each with the sentence that people read when it is broken. */
  readonly rules?: readonly CelRule[];
}

export interface CelRule {
  /** True for a value that is right. */
  readonly rule: string;
  readonly message: string;
}

/** Of a set of words: every one of them; of other texts: how long they may be. */
export type TextSchema<T> = string extends T ? FreeTextSchema : WordSchema<T & string>;

interface FreeTextSchema extends Described {
  readonly type: 'string';
  /** In code points. */
  readonly maxLength: number;
  readonly minLength?: number;
  readonly format?: 'date-time' | 'cidr';
}

interface WordSchema<T extends string> extends Described {
  readonly type: 'string';
  readonly words: { readonly [K in T]: true };
}

export interface NumberSchema extends Described {
  readonly type: 'integer' | 'number';
  readonly minimum: number;
  readonly maximum?: number;
}

export interface FlagSchema extends Described {
  readonly type: 'boolean';
}

export interface ListSchema<E> extends Described {
  readonly type: 'array';
  readonly maxItems: number;
  readonly minItems?: number;
  /** What makes an item the same as another: nothing, the whole item, or these members. */
  readonly unique: 'no' | 'items' | readonly (keyof E & string)[];
  readonly items: SchemaOf<E>;
}

export interface MapSchema<V> extends Described {
  readonly type: 'map';
  readonly maxProperties: number;
  readonly values: SchemaOf<V>;
}

export interface ObjectSchema<T> extends Described {
  readonly type: 'object';
  readonly properties: { readonly [K in keyof T]-?: SchemaOf<Exclude<T[K], undefined>> };
  readonly required: { readonly [K in RequiredKeys<T>]: true };
}

type RequiredKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];

export type AnySchema =
  | FreeTextSchema
  | WordSchema<string>
  | NumberSchema
  | FlagSchema
  | ListSchema<never>
  | MapSchema<never>
  | ObjectSchema<object>;
