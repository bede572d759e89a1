import type { Choices } from '../choices.ts';
import type { RawRequest } from './caller-request.ts';

/** Where a mutation may point at: what belongs to the case and is not the base's own. */
export interface MutationTargets {
  readonly bucket: string;
  readonly otherBucket: string;
  /** A key with an object that the base request does not name. */
  readonly otherKey: string;
  /** One that only requests hidden behind others name. */
  readonly hiddenKey: string;
  readonly host: string;
}

/** What a hidden request writes. */
export const smuggledKey = 'smuggled';

/**
 * What a proxy without keys may make of it: refuse it or do what the base says, or else, where the mutation plainly
 * asks for something else, also that. With keys only the first, whatever it asks for.
 */
export type Meaning = 'the base' | 'anything of the case';

/** Changes the request in place. @returns undefined where it does not apply */
export type Mutation = (
  request: RawRequest,
  choices: Choices,
  around: MutationTargets,
) => Meaning | undefined;

export const pathOf = ({ target }: RawRequest) =>
  target.includes('?') ? target.slice(0, target.indexOf('?')) : target;
export const queryOf = ({ target }: RawRequest) =>
  target.includes('?') ? target.slice(target.indexOf('?')) : '';
export const aHeader = ({ headers }: RawRequest, choices: Choices) =>
  headers.length === 0 ? undefined : choices.pick(headers);
export const has = ({ headers }: RawRequest, name: string) =>
  headers.some(([one]) => one.toLowerCase() === name);

export function setHeader(request: RawRequest, name: string, value: string): void {
  request.headers = [...request.headers.filter(([one]) => one.toLowerCase() !== name), [name, value]];
}

export const insert = (request: RawRequest, choices: Choices, header: [string, string]) =>
  request.headers.splice(choices.below(request.headers.length + 1), 0, header);
