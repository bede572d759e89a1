import type { ServiceConfigSpec } from '../../custom-resources/service-config.ts';
import { guarded } from '../../settings/rules.ts';
import { type Field, type Fields, fields } from './fields.ts';
import type { Reading } from './reading.ts';

/** A value, and where it was said: the name of an annotation, or `ServiceConfig <name>, <member>`. */
export interface Wish<T> {
  readonly place: string;
  readonly value: T;
}

/** What is asked for; undefined: nobody did. */
export type Wishes = {
  readonly [K in keyof Fields]: Fields[K] extends Field<infer T> ? Wish<T> | undefined : never;
};

export interface NamedConfig {
  readonly name: string;
  readonly spec: ServiceConfigSpec;
}

export interface GatheredWishes {
  /** Reading one that has a mistake of its own throws UnusableSetting. */
  readonly wishes: Wishes;
  readonly mistakes: readonly string[];
}

/** Each thing from the pod's annotation or else from the ServiceConfig; what an annotation hides is not judged. */
export function gatherWishes(
  given: Readonly<Record<string, string>>,
  config: NamedConfig | undefined,
): GatheredWishes {
  const wishes: Record<string, unknown> = {};
  const unusable = new Set<string>();
  const mistakes: string[] = [];
  for (const [key, field] of Object.entries<Field<unknown>>(fields)) {
    const found = find(field, given, config);
    if (found?.reading.mistakes !== undefined) unusable.add(key);
    mistakes.push(...(found?.reading.mistakes ?? []));
    wishes[key] =
      found && 'value' in found.reading ? { place: found.place, value: found.reading.value } : undefined;
  }
  return { wishes: guarded(wishes as Wishes, unusable), mistakes };
}

interface Found {
  readonly place: string;
  readonly reading: Reading<unknown>;
}

function find(
  { annotation, member }: Field<unknown>,
  given: Readonly<Record<string, string>>,
  config: NamedConfig | undefined,
): Found | undefined {
  if (annotation !== undefined && Object.hasOwn(given, annotation.name)) {
    const place = annotation.name;
    return { place, reading: annotation.read(place, given[place] ?? '') };
  }
  if (member === undefined || config === undefined) return undefined;
  const place = `ServiceConfig ${config.name}, ${member.name}`;
  const reading = member.read(place, config.spec);
  return reading && { place, reading };
}
