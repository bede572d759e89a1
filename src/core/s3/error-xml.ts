import type { S3Error } from './error.ts';
import { element } from './xml-write.ts';

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** The `<Error>` document that S3 answers with. `resource` is the path that the caller asked for. */
export function errorXml(error: S3Error, context: { resource: string; requestId: string }): string {
  return declaration + errorElement(error, context);
}

/** The same without the XML declaration, for an answer whose declaration was sent while the caller waited. */
export function errorElement(error: S3Error, context: { resource: string; requestId: string }): string {
  const details = Object.entries(error.details).map(([name, value]) => element(name, value));
  const body = [
    element('Code', error.code),
    element('Message', error.message),
    ...details,
    element('Resource', context.resource),
    element('RequestId', context.requestId),
  ];
  return `<Error>${body.join('')}</Error>`;
}
