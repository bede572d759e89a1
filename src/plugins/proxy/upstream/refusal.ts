import { S3Error } from '../../../core/s3/error.ts';
import { unescapeXml } from '../../../core/s3/xml-unescape.ts';
import type { UpstreamResponse } from './upstream.ts';

const limit = 64 * 1024;

/** What a status means where the store sends no body (HEAD). */
const codeOfStatus: Readonly<Record<number, string>> = {
  304: 'NotModified',
  400: 'BadRequest',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  405: 'MethodNotAllowed',
  409: 'OperationAborted',
  412: 'PreconditionFailed',
  416: 'InvalidRange',
  501: 'NotImplemented',
  503: 'ServiceUnavailable',
};

/** Consumes an unsuccessful response: the store's own code, status and message as an S3Error for the caller. */
export async function refusal(response: UpstreamResponse): Promise<S3Error> {
  const text = await readText(response);
  return refusalOf(response.status, text);
}

/** The same for a body that was read already, such as an `<Error>` in a 200. */
export function refusalOf(status: number, text: string): S3Error {
  const failed = status >= 300 ? status : 500;
  const code =
    /<Code>([A-Za-z0-9.]{1,100})<\/Code>/.exec(text)?.[1] ?? codeOfStatus[failed] ?? 'InternalError';
  const message = /<Message>([^<]{0,1000})<\/Message>/.exec(text)?.[1];
  return new S3Error(
    code,
    failed,
    message === undefined ? `The object store answered ${failed}.` : (unescapeXml(message) ?? message),
  );
}

async function readText({ body }: UpstreamResponse): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > limit) break;
      chunks.push(chunk);
    }
  } catch {
    // Cut off: the status says what matters.
    return '';
  }
  return Buffer.concat(chunks).toString();
}
