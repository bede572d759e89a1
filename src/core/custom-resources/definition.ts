import { type OpenApiSchema, openApi } from './schema/open-api.ts';
import type { AnySchema, CelRule } from './schema/schema-of.ts';

/** What tells one custom resource from another. */
export interface CustomResource {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  readonly description: string;
  /** Absent where the operator alone writes it. */
  readonly spec?: AnySchema;
  readonly status: AnySchema;
  /** About the object as a whole; its name is `self.metadata.name`. */
  readonly rules?: readonly CelRule[];
  readonly columns: readonly PrinterColumn[];
}

/** Shown by `kubectl get`; with priority 1 under `-o wide` only. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  readonly priority?: 1;
}

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/ */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: {
    readonly name: string;
    readonly annotations: Readonly<Record<string, string>>;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: object;
}

const group = 'svc.io';
/** Uninstalling a chart must not take away what people have written. */
const keep = { 'helm.sh/resource-policy': 'keep' };

export function definitionOf(resource: CustomResource): CustomResourceDefinition {
  const { kind, plural, shortName } = resource;
  const singular = kind.toLowerCase();
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: {
      name: `${plural}.${group}`,
      annotations: keep,
      labels: { 'app.kubernetes.io/name': 'svc', 'app.kubernetes.io/part-of': 'svc' },
    },
    spec: {
      ...{ group, scope: 'Namespaced' },
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames: [shortName], categories },
      versions: [version(resource)],
    },
  };
}

/** Not `svc`: `kubectl get svc` means Services. */
const categories = ['protection'];

function version(resource: CustomResource): object {
  return {
    ...{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } },
    additionalPrinterColumns: [...resource.columns, age],
    schema: { openAPIV3Schema: wholeObject(resource) },
  };
}

const age: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

function wholeObject({ description, spec, status, rules }: CustomResource): OpenApiSchema {
  return {
    ...{ description, type: 'object', required: spec === undefined ? [] : ['spec'] },
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...(spec === undefined ? {} : { spec: openApi(spec) }),
      status: openApi(status),
    },
    ...(rules === undefined ? {} : { 'x-kubernetes-validations': rules }),
  };
}
