import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

export interface ShippedObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly ports?: readonly ObjectPort[];
    readonly template?: { readonly spec: { readonly containers: readonly ShippedContainer[] } };
  };
}

export interface ObjectPort {
  readonly name: string;
  readonly port?: number;
  readonly containerPort?: number;
  readonly targetPort?: string | number;
}

interface ShippedContainer {
  readonly ports?: readonly ObjectPort[];
}

const file = new URL('../../../manifests/plain/svc.yaml', import.meta.url);

/** What is installed, as rendered from the chart with its defaults. */
export const shippedObjects = (): readonly ShippedObject[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as ShippedObject);
