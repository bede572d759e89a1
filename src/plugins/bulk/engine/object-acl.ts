import type { ObjectName } from '../../../objects/format/metadata.ts';
import type { DocumentShape } from '../../../objects/s3/xml-document.ts';
import { refusal, type Upstream, xmlResult } from '../../../objects/upstream/upstream.ts';

const answerLimit = 256 * 1024;

/** The owner, and the grants of all others. */
export const acl: DocumentShape = {
  root: 'AccessControlPolicy',
  entries: ['AccessControlList/Grant'],
  fields: ['Owner/ID', 'Grantee/ID', 'Grantee/URI', 'Grantee/EmailAddress', 'Permission'],
};

/** Errors of stores without ACLs, or whose buckets have none. */
const withoutAcl = new Set(['NotImplemented', 'AccessControlListNotSupported', 'MethodNotAllowed']);

/** Whether an object has the default ACL, which any copy gets; false also if the ACL cannot be read. */
export async function hasPlainAcl(
  upstream: Upstream,
  name: ObjectName,
  signal: AbortSignal,
): Promise<boolean> {
  const response = await upstream.send({ method: 'GET', ...name, query: [['acl', '']], signal });
  if (response.status !== 200) {
    const refused = await refusal(response);
    if (refused.status >= 500 && refused.code !== 'NotImplemented') throw refused;
    return withoutAcl.has(refused.code);
  }
  const { top, entries } = await xmlResult(response, acl, answerLimit);
  const owner = top.get('Owner/ID') ?? '';
  return entries.every(
    (grant) => grant.get('Grantee/URI') === undefined && (grant.get('Grantee/ID') ?? '') === owner,
  );
}
