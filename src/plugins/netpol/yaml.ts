import { Document, visit } from 'yaml';

/**
 * Documents for `kubectl apply -f -`: texts that mean something else in YAML 1.1 or 1.2 are quoted, since what reads
 * them takes some of both. Lines are not folded and nothing is an alias.
 */
export function yamlDocuments(objects: readonly object[]): string {
  return objects.map(documentOf).join('---\n');
}

function documentOf(object: object): string {
  const document = new Document(object, { version: '1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, scalar) {
      if (isOctal(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** The one kind of number that only 1.2 has. */
function isOctal(value: unknown): boolean {
  return typeof value === 'string' && /^0o[0-7]+$/.test(value);
}
