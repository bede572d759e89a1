import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { S3Error } from '../../../../src/objects/s3/error.ts';
import { scanDocument } from '../../../../src/objects/s3/xml-document.ts';
import { acl as aclShape } from '../../../../src/plugins/bulk/engine/object-acl.ts';
import { grantsOf } from '../../../../src/plugins/bulk/migrate/kept-headers.ts';
import { plannedParts } from '../../../../src/plugins/bulk/migrate/write-encrypted.ts';

const test = suite('what svc proxy migrate keeps, and how it cuts');

const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
const grant = (grantee: string, permission: string) =>
  `<Grant><Grantee ${xsi} xsi:type="X">${grantee}</Grantee><Permission>${permission}</Permission></Grant>`;
const acl = (...grants: readonly string[]) =>
  scanDocument(
    Buffer.from(
      `<AccessControlPolicy><Owner><ID>me</ID></Owner><AccessControlList>${grants.join('')}</AccessControlList></AccessControlPolicy>`,
    ),
    aclShape,
  );

test('every grant of an ACL goes into the header of its permission', () => {
  const everybody = 'http://acs.amazonaws.com/groups/global/AllUsers';
  const given = acl(
    grant('<ID>me</ID>', 'FULL_CONTROL'),
    grant(`<URI>${everybody}</URI>`, 'READ'),
    grant('<ID>you</ID><DisplayName>You</DisplayName>', 'READ'),
    grant('<EmailAddress>a@b.example</EmailAddress>', 'READ_ACP'),
    grant('<ID>you</ID>', 'WRITE_ACP'),
  );
  assert.equal(grantsOf(given), {
    'x-amz-grant-full-control': 'id="me"',
    'x-amz-grant-read': `uri="${everybody}", id="you"`,
    'x-amz-grant-read-acp': 'emailAddress="a@b.example"',
    'x-amz-grant-write-acp': 'id="you"',
  });
});

test('a grant that no header can say is refused, and not left out', () => {
  for (const odd of [
    grant('<ID>you</ID>', 'WRITE'),
    grant('<Other>you</Other>', 'READ'),
    grant('<ID>you", uri="all</ID>', 'READ'),
    grant('<ID></ID>', 'READ'),
  ])
    assert.throws(
      () => grantsOf(acl(odd)),
      (error: unknown) => error instanceof S3Error && error.code === 'MetadataNotKept',
    );
});

test('parts cover an object exactly, and never are more than a store takes', () => {
  const MiB = 1024 ** 2;
  assert.is(plannedParts({ size: 5 * MiB, list: undefined }, 5 * MiB), undefined);
  for (const size of [5 * MiB + 1, 10 * MiB, 11 * MiB, 5 * 1024 ** 4]) {
    const parts = plannedParts({ size, list: undefined }, 5 * MiB) ?? [];
    assert.ok(parts.length > 1 && parts.length <= 10_000, String(parts.length));
    assert.is(
      parts.reduce((sum, part) => sum + part.size, 0),
      size,
    );
    assert.ok(parts.every((part, index) => part.number === index + 1 && part.size > 0));
    assert.ok(parts.slice(0, -1).every((part) => part.size >= 5 * MiB));
  }
});

test.run();
