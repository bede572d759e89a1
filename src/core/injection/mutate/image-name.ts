import { ImageError } from '../../image/image-error.ts';
import { type ImageReference, parseImageReference } from '../../image/reference.ts';

/** Where the images of a registry are as well: `docker.io` to `mirror.example/hub`. */
export type ImageMirrors = ReadonlyMap<string, readonly string[]>;

const none: ImageMirrors = new Map();

/**
 * Whether a pod's image is the one that the operator is configured with: the same name and tag, there or in a mirror that
 * the operator is told of, or the same digest wherever it is kept. Another image of the same last part is not, nor is one
 * with a digest that was not configured: runtimes go by the digest, whatever the tag says.
 */
export function isConfiguredImage(
  there: string | undefined,
  configured: string | undefined,
  mirrors: ImageMirrors = none,
): boolean {
  if (there === configured) return there !== undefined;
  const [one, own] = [there, configured].map(parsed);
  if (one === undefined || own === undefined) return false;
  if (own.digest !== undefined || one.digest !== undefined) return one.digest === own.digest;
  return one.tag === own.tag && namesOf(own, mirrors).includes(`${one.registry}/${one.repository}`);
}

function namesOf({ registry, repository }: ImageReference, mirrors: ImageMirrors): readonly string[] {
  return [registry, ...(mirrors.get(registry) ?? [])].map((place) => `${place}/${repository}`);
}

function parsed(image = ''): ImageReference | undefined {
  try {
    return parseImageReference(image);
  } catch (error) {
    if (error instanceof ImageError) return undefined;
    throw error;
  }
}
