import { s3Error } from '../../../core/s3/error-catalog.ts';
import { parseXml, type XmlElement } from '../../../core/s3/xml.ts';
import { readBody } from './read-body.ts';
import { refusalOf } from './refusal.ts';
import type { UpstreamResponse } from './upstream.ts';

const startsWithError = /^(<\?xml[^>]*>)?\s*<Error[\s>]/;

/** The document that a request answers with. @throws S3Error as the store has it, in the status or in the body */
export async function xmlText(response: UpstreamResponse, limit: number): Promise<string> {
  const text = (await readBody(response, limit)).toString().trim();
  if (response.status === 200 && !startsWithError.test(text)) return text;
  throw refusalOf(response.status, text);
}

/**
 * The result document of a request that answers with one. Stores answer 200 to copies and Complete before they
 * know the outcome, white space first, so the body decides.
 * @throws S3Error as the store has it, in the status or in the body
 */
export async function xmlResult(
  response: UpstreamResponse,
  root: string,
  limit: number,
): Promise<XmlElement> {
  const text = await xmlText(response, limit);
  try {
    return parseXml(text, root, limit);
  } catch (cause) {
    throw s3Error('InternalError', `The object store did not answer with a ${root}.`, { cause });
  }
}
