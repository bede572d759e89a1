import type { Container } from '../../kubernetes/pod.ts';
import { ownContainer } from './add-container.ts';
import type { Context } from './context.ts';

export interface Place {
  /** Where it goes when it is not there yet. */
  readonly at: number;
  /** Where it has to stand at the latest; one that is behind is moved to `at`. */
  readonly latest: number;
}

/** The containers with one of the operator's own, which keeps its place where it is there already. */
export function placeContainer(
  containers: readonly Container[],
  wanted: Container,
  { at, latest }: Place,
  context: Pick<Context, 'defaults' | 'remarks'>,
): readonly Container[] {
  const index = containers.findIndex(({ name }) => name === wanted.name);
  const there = containers[index];
  if (there === undefined) return containers.toSpliced(at, 0, wanted);
  const container = ownContainer(there, wanted, context);
  return index <= latest
    ? containers.with(index, container)
    : containers.toSpliced(index, 1).toSpliced(at, 0, container);
}
