import { waitFor } from './wait-for.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind are picked apart freely
type Anything = any;
type Apply = (...objects: readonly object[]) => Promise<void>;
/** Throws on an error status, and yields the object of the answer. */
type Must = (
  method: string,
  path: string,
  body?: unknown,
  options?: { readonly contentType: string },
) => Promise<Anything>;

export const APPLY = { contentType: 'application/apply-patch+yaml' };

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const rootOf = (apiVersion: string) =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;

/** Where server-side apply sends an object, by what the API server says of its kinds. */
export function applyPaths(must: Must): (object: object) => Promise<string> {
  const known = new Map<string, Resource>();
  return async (object) => {
    const { apiVersion, kind } = object as Anything;
    const key = `${apiVersion} ${kind}`;
    const resource = known.get(key) ?? (await resourceOf(must, apiVersion, kind));
    known.set(key, resource);
    return `${pathOf(object, resource)}?fieldManager=kubectl&fieldValidation=Strict`;
  };
}

/**
 * Applies objects one after the other, under kubectl's name and with its checks but without starting it, and waits
 * until the API server goes by the roles and serves the custom resources among them.
 */
export function applyWith(must: Must, pathOf: (object: object) => Promise<string>): Apply {
  return async (...objects) => {
    for (const object of objects) await must('PATCH', await pathOf(object), object, APPLY);
    await served(must, objects);
    await effective(must, objects);
  };
}

async function resourceOf(must: Must, apiVersion: string, kind: string): Promise<Resource> {
  const { resources } = await must('GET', rootOf(apiVersion));
  const found = resources.find((one: Resource) => one.kind === kind && !one.name.includes('/'));
  if (found === undefined) throw new Error(`Kubernetes: ${apiVersion} has no ${kind}`);
  return found;
}

function pathOf({ apiVersion, metadata }: Anything, { name, namespaced }: Resource): string {
  const within = namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
  return `${rootOf(apiVersion)}${within}/${name}/${metadata.name}`;
}

async function served(must: Must, objects: readonly Anything[]): Promise<void> {
  for (const { kind, spec } of objects) {
    if (kind !== 'CustomResourceDefinition') continue;
    const { kind: own } = spec.names;
    for (const { name } of spec.versions)
      await waitFor(`${own} at the API server`, () => resourceOf(must, `${spec.group}/${name}`, own));
  }
}

/** The API server learns of roles by a watch. */
async function effective(must: Must, objects: readonly Anything[]): Promise<void> {
  for (const { kind, metadata, roleRef, subjects } of objects) {
    if (!/^(Cluster)?RoleBinding$/.test(kind)) continue;
    const role = objects.find((one) => one.kind === roleRef.kind && one.metadata.name === roleRef.name);
    const rule = role?.rules.find(({ resources }: Anything) => resources !== undefined);
    if (rule === undefined) continue;
    const resourceAttributes = accessOf(rule, metadata.namespace);
    const spec = { ...reviewed(subjects[0], metadata.namespace), resourceAttributes };
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    await waitFor(`the role ${roleRef.name}`, async () => {
      const { status } = await must('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review);
      return status.allowed;
    });
  }
}

/** One of those that a rule allows. */
function accessOf({ apiGroups, resources, resourceNames, verbs }: Anything, namespace?: string): object {
  const [resource, subresource] = resources[0].split('/');
  return { group: apiGroups[0], resource, subresource, name: resourceNames?.[0], verb: verbs[0], namespace };
}

function reviewed({ kind, name, namespace }: Anything, usual?: string): object {
  if (kind === 'Group') return { groups: [name] };
  return { user: kind === 'User' ? name : `system:serviceaccount:${namespace ?? usual}:${name}` };
}
