const docker = 'docker.io';
/** Docker's name for it before registries had an API of today's version. */
const formerDocker = 'index.docker.io';

/**
 * Tells a registry from the first part of a repository: a registry has a dot, a colon or a capital letter, or is
 * `localhost`. A name of one part on Docker Hub is below `library/`.
 * @param name a reference without its digest
 */
export function splitRegistry(name: string): { readonly registry: string; readonly rest: string } {
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const isRegistry = slash >= 0 && (first === 'localhost' || /[.:A-Z]/.test(first));
  const registry = isRegistry && first !== formerDocker ? first : docker;
  const rest = isRegistry ? name.slice(slash + 1) : name;
  return { registry, rest: registry === docker && !rest.includes('/') ? `library/${rest}` : rest };
}
