export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** Where a value stands: `end` is the first byte after it. The quotes of a string belong to it. */
export interface JsonValue {
  readonly kind: JsonKind;
  readonly start: number;
  readonly end: number;
}

/** A member of an object; its name is no secret. */
export interface JsonMember extends JsonValue {
  readonly name: string;
}
