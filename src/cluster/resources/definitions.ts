import { readFileSync } from 'node:fs';
import { packageFolder } from '../../runtime/component/package-folder.ts';

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/ */
export interface CustomResourceDefinition {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly names: { readonly kind: string; readonly shortNames: readonly string[] };
    readonly versions: readonly [DefinitionVersion];
  };
}

interface DefinitionVersion {
  readonly name: string;
  readonly schema: { readonly openAPIV3Schema: OpenApiSchema };
}

/** JSONSchemaProps, as far as these definitions use it. */
export interface OpenApiSchema {
  readonly type: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema;
  readonly enum?: readonly string[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

interface CelRule {
  /** True for a valid value. */
  readonly rule: string;
  readonly message: string;
}

/** Below the folder of the package, which brings them along. */
export const definitionFolder = 'manifests/chart/templates/crds/';

/** The definitions of all custom resources, as the chart installs them. */
export async function readDefinitions(): Promise<readonly CustomResourceDefinition[]> {
  const { parse } = await import('yaml');
  const folder = new URL(definitionFolder, packageFolder());
  return ['serviceconfigs', 'secretmappings', 'protectionreports'].map((plural) =>
    parse(readFileSync(new URL(`${plural}.yaml`, folder), 'utf8')),
  );
}
