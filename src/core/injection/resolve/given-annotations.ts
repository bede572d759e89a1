import type { Pod } from '../../kubernetes/pod.ts';
import { hint } from '../../settings/suggest.ts';
import { annotationNames, annotationPrefix, annotations } from './annotations.ts';
import { readText } from './reading.ts';

type Given = Readonly<Record<string, string>>;

/** Those of a pod's annotations that are ours by their prefix, known or not. */
export function givenAnnotations({ metadata }: Pod): Given {
  const all = Object.entries(metadata.annotations ?? {});
  return Object.fromEntries(all.filter(([name]) => isOurs(name)));
}

/** Kubernetes takes `SVC/inject` too: whoever writes it means ours, and must not go without protection unnoticed. */
export function isOurs(name: string): boolean {
  return name.slice(0, annotationPrefix.length).toLowerCase() === annotationPrefix;
}

/** The one value that leaves a pod alone, whatever else it carries. */
export function optsOut(given: Given): boolean {
  return given[annotations.inject.name] === 'false';
}

/** Names that there are not, and a wrong `svc/inject`, which is no field of a plan. */
export function annotationMistakes(given: Given): string[] {
  const unknown = Object.keys(given).filter((name) => !annotationNames.includes(name));
  return [
    ...unknown.map((name) => `${name}: is no annotation of svc${nearestOrAll(name)}`),
    ...injectMistakes(given),
  ];
}

function nearestOrAll(name: string): string {
  return hint(name.toLowerCase(), annotationNames) || `; there are ${annotationNames.join(', ')}`;
}

function injectMistakes(given: Given): readonly string[] {
  const { name } = annotations.inject;
  return Object.hasOwn(given, name)
    ? (readText(name, given[name] ?? '', annotations.inject).mistakes ?? [])
    : [];
}
