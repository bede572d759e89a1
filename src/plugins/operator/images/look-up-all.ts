import type { ImageCommand } from '../../../core/injection/contract.ts';
import { type Limits, type LookUpDeps, lookUpOne, type OneImage } from './look-up-one.ts';

export interface AllImages extends Omit<OneImage, 'image'> {
  readonly images: readonly string[];
}

export interface FoundImages {
  readonly commands: ReadonlyMap<string, ImageCommand>;
  readonly failures: readonly Failure[];
}

export interface Failure {
  readonly image: string;
  readonly error: unknown;
}

/** Looks images up at the same time, each once. Never rejects. */
export async function lookUpAll(
  { images, ...common }: AllImages,
  limits: Limits,
  deps: LookUpDeps,
): Promise<FoundImages> {
  const commands = new Map<string, ImageCommand>();
  const failures: Failure[] = [];
  const settle = async (image: string) => {
    try {
      commands.set(image, await lookUpOne({ ...common, image }, limits, deps));
    } catch (error) {
      failures.push({ image, error });
    }
  };
  await Promise.all([...new Set(images)].map(settle));
  // in the order of the pod, not of the registries' answers
  failures.sort((a, b) => images.indexOf(a.image) - images.indexOf(b.image));
  return { commands, failures };
}
