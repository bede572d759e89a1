import { createHash } from 'node:crypto';

/** An image name as the kubelet interprets it. If there are both, the digest decides and the tag is ignored. */
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
 * Parses a reference as container runtimes do: `nginx` is `docker.io/library/nginx:latest`.
 * Source: https://github.com/distribution/reference
 * @throws ImageError that names the invalid part
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

/** The full form: registry, repository, and tag and digest if present. */
export function formatImageReference({ registry, repository, tag, digest }: ImageReference): string {
  return `${registry}/${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

function check({ registry, repository, tag, digest }: ImageReference): void {
  if (!registryForm.test(registry))
    throw new ImageError('the registry is not a host name or address with a port');
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
/** Docker Hub's host name before the current registry API. */
const formerDocker = 'index.docker.io';

/**
 * Tells a registry from the first component of a repository: a registry has a dot, a colon or a capital letter, or is
 * `localhost`. A single-component name on Docker Hub is below `library/`.
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

/** Number of hexadecimal digits, by algorithm that the kubelet knows. */
const digits: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

/** Whether a digest such as `sha256:…` has a verifiable algorithm, lower case and the right length. */
export function isDigest(text: string): boolean {
  const [, algorithm = '', hex = ''] = /^([a-z0-9]+):([0-9a-f]+)$/.exec(text) ?? [];
  return Object.hasOwn(digits, algorithm) && hex.length === digits[algorithm];
}

export function digestOf(bytes: Uint8Array, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

/** @throws ImageError unless the bytes match the digest */
export function verifyDigest(bytes: Uint8Array, digest: string): void {
  if (!isDigest(digest)) throw new ImageError('a digest is not one of sha256, sha384 or sha512');
  const found = digestOf(bytes, digest.slice(0, digest.indexOf(':')));
  if (found !== digest) throw new ImageError(`the content of ${digest} has another digest, ${found}`);
}

/** An image, a reference or a registry's answer that cannot be used; the message is a clause. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
}

/** Mirrors by registry: `docker.io` to `mirror.example/hub`. */
export type ImageMirrors = ReadonlyMap<string, readonly string[]>;

const none: ImageMirrors = new Map();

/**
 * Whether a pod's image is the configured one: the same name and tag, at the original registry or a configured mirror,
 * or the same digest anywhere. The same last component does not suffice, nor does a tag with a digest that was not
 * configured, because runtimes use the digest regardless of the tag.
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
