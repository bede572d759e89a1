import { s3Error } from './error-catalog.ts';
import { parseXml } from './xml.ts';

const maxRestoreBytes = 64 * 1024;
const plain = new Set(['Days', 'GlacierJobParameters', 'Tier', 'Description']);

/**
 * Lets a RestoreRequest pass that only brings the object back. One that selects from the object would have the
 * store write results elsewhere. @throws S3Error MalformedXML, NotImplemented
 */
export function checkRestoreBody(xml: string): void {
  if (xml.trim() === '') return;
  const root = parseXml(xml, 'RestoreRequest', maxRestoreBytes);
  for (const name of root.children.keys()) {
    if (!plain.has(name)) throw s3Error('NotImplemented', `${name} in a restore request is not implemented.`);
  }
}
