import type { KnownWorkload } from '../../core/cluster/known.ts';
import { controllerOf } from '../../core/cluster/owner.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Intern } from './intern.ts';
import type { FullMeta } from './project-objects.ts';
import { type PodTemplate, projectTemplate } from './project-pod.ts';

export interface WorkloadObject extends KubeObject {
  readonly metadata: FullMeta;
  readonly spec?: {
    readonly template?: PodTemplate;
    readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplate } };
  };
}

/** @param kind which objects of a list do not name */
export function projectWorkload(kind: string, object: WorkloadObject, intern: Intern): KnownWorkload {
  const { name, namespace = '', uid, ownerReferences } = object.metadata;
  const owner = controllerOf(ownerReferences);
  const template = object.spec?.template ?? object.spec?.jobTemplate?.spec?.template;
  return {
    ...{ kind, namespace, name, uid },
    owner: owner && { kind: owner.kind, name: owner.name },
    template: owner === undefined && template !== undefined ? projectTemplate(template, intern) : undefined,
  };
}
