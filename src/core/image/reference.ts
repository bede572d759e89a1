import { createHash } from 'node:crypto';

/** An image as the kubelet understands its name. With both, the digest decides and the tag says nothing. */
export interface ImageReference {
  /** `docker.io`, `registry.example:5000`, `[::1]:5000`; case as written. */
  readonly registry: string;
  /** `library/nginx`. */
  readonly repository: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const registryForm = new RegExp(`^(?:${label}(?:\\.${label})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?$`);
const repositoryForm = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const tagForm = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const longestRepository = 255;
const longestReference = 2_048;

/**
 * Reads a reference as container runtimes do: `nginx` is `docker.io/library/nginx:latest`.
 * Source: https://github.com/distribution/reference
 * @throws ImageError with the part that is wrong
 */
export function parseImageReference(text: string): ImageReference {
  if (text === '') throw new ImageError('the reference is empty');
  if (text.length > longestReference) throw new ImageError('the reference is too long');
  if (/^[0-9a-f]{64}$/.test(text)) throw new ImageError('64 hexadecimal digits are an image ID, not a name');
  const at = text.indexOf('@');
  const digest = at < 0 ? undefined : text.slice(at + 1);
  const { registry, rest } = splitRegistry(at < 0 ? text : text.slice(0, at));
  const colon = rest.indexOf(':');
  const repository = colon < 0 ? rest : rest.slice(0, colon);
  const tag = colon < 0 ? undefined : rest.slice(colon + 1);
  check({ registry, repository, tag, digest });
  return { registry, repository, tag: tag ?? (digest === undefined ? 'latest' : undefined), digest };
}

/** In full: registry, repository, then tag and digest where it has them. */
export function formatImageReference({ registry, repository, tag, digest }: ImageReference): string {
  return `${registry}/${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

function check({ registry, repository, tag, digest }: ImageReference): void {
  if (!registryForm.test(registry))
    throw new ImageError('the registry is no host name or address with a port');
  const port = /:(\d+)$/.exec(registry)?.[1];
  if (Number(port) > 65_535) throw new ImageError(`the registry's port ${port} is above 65535`);
  if (/[A-Z]/.test(repository)) throw new ImageError('the repository must be in lower case');
  if (!repositoryForm.test(repository))
    throw new ImageError('the repository has a form that registries refuse');
  if (repository.length > longestRepository)
    throw new ImageError(`the repository has more than ${longestRepository} characters`);
  if (tag !== undefined && !tagForm.test(tag))
    throw new ImageError('the tag has a form that registries refuse');
  if (digest !== undefined && !isDigest(digest))
    throw new ImageError('the digest is not sha256, sha384 or sha512 with its lower-case hexadecimal digits');
}

const docker = 'docker.io';
/** Docker's name for it before registries had an API of today's version. */
const formerDocker = 'index.docker.io';

/**
 * Distinguishes a registry from the first part of a repository: a registry has a dot, a colon or a capital letter, or
 * is `localhost`. A name of one part on Docker Hub is below `library/`.
 * @param name a reference without its digest
 */
function splitRegistry(name: string): { readonly registry: string; readonly rest: string } {
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const isRegistry = slash >= 0 && (first === 'localhost' || /[.:A-Z]/.test(first));
  const registry = isRegistry && first !== formerDocker ? first : docker;
  const rest = isRegistry ? name.slice(slash + 1) : name;
  return { registry, rest: registry === docker && !rest.includes('/') ? `library/${rest}` : rest };
}

/** Hexadecimal digits by algorithm: those that the kubelet knows. */
const digits: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

/** `sha256:…` in lower case, of the right length, with an algorithm that can be checked. */
export function isDigest(text: string): boolean {
  const [, algorithm = '', hex = ''] = /^([a-z0-9]+):([0-9a-f]+)$/.exec(text) ?? [];
  return Object.hasOwn(digits, algorithm) && hex.length === digits[algorithm];
}

export function digestOf(bytes: Uint8Array, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

/** @throws ImageError unless the bytes are those that the digest names */
export function verifyDigest(bytes: Uint8Array, digest: string): void {
  if (!isDigest(digest)) throw new ImageError('a digest is not one of sha256, sha384 or sha512');
  const found = digestOf(bytes, digest.slice(0, digest.indexOf(':')));
  if (found !== digest) throw new ImageError(`the content of ${digest} has another digest, ${found}`);
}

/** Something about an image, its reference or what a registry says of it, that cannot be used; the message is a clause. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
}

/** Where the images of a registry are as well: `docker.io` to `mirror.example/hub`. */
export type ImageMirrors = ReadonlyMap<string, readonly string[]>;

const none: ImageMirrors = new Map();

/**
 * Whether a pod's image is the one that the operator is configured with: the same name and tag, there or in a mirror
 * that the operator is told of, or the same digest wherever it is kept. Another image of the same last part is not, nor
 * is one with a digest that was not configured: runtimes use the digest, whatever the tag says.
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
