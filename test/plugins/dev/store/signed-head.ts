import {
  canonicalQuery,
  canonicalRequest,
  hmacHex,
  isoBasicOf,
  scopeText,
  signingKey,
  stringToSign,
} from '../../../../src/objects/s3/sigv4-sign.ts';
import type { ObjectStore } from '../../../../src/plugins/dev/store/object-store.ts';

/** The head of a signed PUT as text, for bodies that no client would send. */
export function signedHead(
  store: ObjectStore,
  path: string,
  contentSha256: string,
  more: Readonly<Record<string, string>>,
): string {
  const timestamp = isoBasicOf(Date.now());
  const scope = { date: timestamp.slice(0, 8), region: 'us-east-1', service: 's3' };
  const headers: Record<string, string> = {
    ...more,
    host: new URL(store.url).host,
    'x-amz-content-sha256': contentSha256,
    'x-amz-date': timestamp,
  };
  const signedHeaders = Object.keys(headers).sort();
  const query = canonicalQuery('');
  const canonical = canonicalRequest({
    method: 'PUT',
    path,
    query,
    headers,
    signedHeaders,
    payload: contentSha256,
  });
  const key = signingKey(store.secretAccessKey, scope);
  const signature = hmacHex(key, stringToSign(timestamp, scopeText(scope), canonical));
  const authorization = `AWS4-HMAC-SHA256 Credential=${store.accessKeyId}/${scopeText(scope)}, SignedHeaders=${signedHeaders.join(';')}, Signature=${signature}`;
  const lines = Object.entries({ ...headers, authorization }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `PUT ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
