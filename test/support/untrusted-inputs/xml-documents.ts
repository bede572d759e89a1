import { S3Error } from '../../../src/objects/s3/error.ts';
import { scanAttributes, scanListing } from '../../../src/objects/s3/listing.ts';
import {
  checkRestoreBody,
  parseCompleteMultipart,
  parseDeleteObjects,
} from '../../../src/objects/s3/request-documents.ts';
import { refusalOf, scanAnswer } from '../../../src/objects/upstream/upstream.ts';
import { acl } from '../../../src/plugins/bulk/engine/object-acl.ts';
import { grantsOf } from '../../../src/plugins/bulk/migrate/kept-headers.ts';
import { parseTagging } from '../../../src/plugins/dev/store/object.ts';
import {
  deletedKeys,
  deleteResult,
  withRefusals,
} from '../../../src/plugins/proxy/operations/delete-objects.ts';
import { withoutBucket } from '../../../src/plugins/proxy/operations/list-buckets.ts';
import type { UntrustedInput } from './types.ts';
import { documentsOf, worstOf, type XmlForm } from './xml.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const sums = ['CRC32', 'CRC32C', 'SHA1', 'SHA256', 'CRC64NVME'].map((name) => `Checksum${name}`);

const isS3Error = (error: unknown): boolean => error instanceof S3Error;

type Reader = Pick<UntrustedInput, 'name' | 'parser' | 'parse'> & {
  readonly form: XmlForm;
  readonly worst?: UntrustedInput['worst'];
  readonly heapPerByte?: number;
};

const ofCaller = ({ form, worst, ...reader }: Reader): UntrustedInput => ({
  ...{
    ...reader,
    from: 'caller',
    refuses: (error) => isS3Error(error) && (error as S3Error).code !== 'InternalError',
  },
  ...{ arbitrary: documentsOf(form), worst: { ...worstOf(form), ...worst } },
});

const ofStore = ({ form, worst, ...reader }: Reader): UntrustedInput => ({
  ...{ ...reader, from: 'store', refuses: isS3Error },
  ...{ arbitrary: documentsOf(form), worst: { ...worstOf(form), ...worst } },
});

const listFields = ['Key', 'Prefix', 'ETag', 'Size', 'VersionId', 'LastModified', 'UploadId', 'PartNumber'];
const checksums = ['ChecksumAlgorithm', 'ChecksumCRC32'];

/** 1,000 of the longest. */
const encodedKeys = (letter: string): Buffer =>
  Buffer.from(
    `<ListBucketResult><EncodingType>url</EncodingType>${`<Contents><Key>${letter.repeat(1024 / (letter.length > 1 ? 3 : 1))}</Key></Contents>`.repeat(1_000)}</ListBucketResult>`,
  );

/** All XML documents that the proxy and the store of `svc dev` read. */
export const inputs: readonly UntrustedInput[] = [
  ofCaller({
    ...{
      name: 'CompleteMultipartUpload',
      parser: 'objects/s3/request-documents.ts',
      parse: parseCompleteMultipart,
    },
    form: {
      ...{ root: 'CompleteMultipartUpload', entries: ['Part'], mostEntries: 10_000, bytes: 4 * MiB },
      entry: (at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>e</ETag></Part>`,
      fields: ['PartNumber', 'ETag', ...sums],
    },
    // the shortest parts have 50 bytes; 1,400 are charged for each
    heapPerByte: 24,
  }),
  ofCaller({
    ...{
      name: 'parts with a checksum',
      parser: 'objects/s3/request-documents.ts',
      parse: parseCompleteMultipart,
    },
    form: {
      ...{ root: 'CompleteMultipartUpload', entries: ['Part'], mostEntries: 10_000, bytes: 4 * MiB },
      entry: (at) =>
        `<Part><PartNumber>${at + 1}</PartNumber><ETag>e</ETag><ChecksumCRC32>AAAAAA==</ChecksumCRC32></Part>`,
      fields: ['PartNumber', 'ETag', ...sums],
    },
  }),
  ofCaller({
    ...{ name: 'DeleteObjects', parser: 'objects/s3/request-documents.ts', parse: parseDeleteObjects },
    form: {
      ...{ root: 'Delete', entries: ['Object'], mostEntries: 1_000, bytes: 2 * MiB },
      entry: () => '<Object><Key>a</Key></Object>',
      fields: ['Key', 'VersionId', 'ETag', 'LastModifiedTime', 'Size', 'Quiet'],
    },
  }),
  ofCaller({
    ...{ name: 'RestoreObject', parser: 'objects/s3/request-documents.ts', parse: checkRestoreBody },
    form: {
      ...{ root: 'RestoreRequest', entries: ['GlacierJobParameters'], mostEntries: 50, bytes: 64 * KiB },
      entry: () => '<Days>1</Days>',
      fields: ['Tier', 'Days', 'Description'],
    },
  }),
  ofCaller({
    ...{ name: 'Tagging, svc dev', parser: 'plugins/dev/store/object.ts', parse: parseTagging },
    form: {
      ...{ root: 'Tagging', list: 'TagSet', entries: ['Tag'], mostEntries: 1_000, bytes: 64 * KiB },
      entry: () => '<Tag><Key>a</Key><Value/></Tag>',
      fields: ['Key', 'Value'],
    },
  }),
  ofStore({
    ...{ name: 'listing', parser: 'objects/s3/listing.ts', parse: scanListing },
    form: {
      root: 'ListBucketResult',
      entries: ['Upload', 'Contents', 'Version', 'DeleteMarker', 'CommonPrefixes', 'Part'],
      ...{ mostEntries: 10_000, bytes: 8 * MiB, entry: () => '<Upload><Key/></Upload>' },
      fields: [...listFields, ...checksums, 'EncodingType', 'KeyCount', 'IsTruncated', 'NextMarker'],
    },
    worst: {
      'encoded keys': () => encodedKeys('+'),
      'encoded keys of other letters': () => encodedKeys('%E6%BC%A2'),
    },
  }),
  ofStore({
    ...{ name: 'listing of parts', parser: 'objects/s3/listing.ts', parse: scanListing },
    form: {
      ...{ root: 'ListPartsResult', entries: ['Part'], mostEntries: 10_000, bytes: 4 * MiB },
      entry: () => '<Part><PartNumber>1</PartNumber><ETag>"e"</ETag><Size>1</Size></Part>',
      fields: [...listFields, ...checksums],
    },
  }),
  ofStore({
    ...{ name: 'GetObjectAttributes', parser: 'objects/s3/listing.ts', parse: scanAttributes },
    form: {
      ...{ root: 'GetObjectAttributesResponse', list: 'ObjectParts', entries: ['Part'], mostEntries: 10_000 },
      ...{ bytes: 4 * MiB, entry: () => '<Part><PartNumber>1</PartNumber></Part>' },
      fields: ['PartNumber', 'Size', ...checksums],
    },
  }),
  ofStore({
    ...{ name: 'page of a listing', parser: 'objects/s3/xml-document.ts' },
    parse: (xml) =>
      scanAnswer(xml, {
        ...{ root: 'ListVersionsResult', entries: ['Version', 'DeleteMarker'], mostEntries: 10_000 },
        fields: ['Key', 'VersionId', 'LastModified', 'IsTruncated', 'NextKeyMarker', 'NextVersionIdMarker'],
      }),
    form: {
      ...{ root: 'ListVersionsResult', entries: ['Version', 'DeleteMarker'], mostEntries: 10_000 },
      ...{ bytes: 8 * MiB, entry: () => '<Version><Key>a</Key></Version>' },
      fields: ['Key', 'VersionId', 'LastModified', 'IsTruncated', 'NextKeyMarker'],
    },
  }),
  ofStore({
    ...{ name: 'ListBuckets', parser: 'plugins/proxy/operations/list-buckets.ts' },
    parse: (xml) => withoutBucket(xml, 'a'),
    form: {
      ...{ root: 'ListAllMyBucketsResult', list: 'Buckets', entries: ['Bucket'], mostEntries: 10_000 },
      ...{ bytes: 8 * MiB, entry: () => '<Bucket><Name>a</Name></Bucket>', fields: ['Name', 'CreationDate'] },
    },
  }),
  ofStore({
    ...{ name: 'DeleteResult', parser: 'plugins/proxy/operations/delete-objects.ts' },
    parse(xml) {
      const result = scanAnswer(xml, deleteResult);
      return [deletedKeys(['a'], result), withRefusals(xml, [], result.entries)];
    },
    form: {
      ...{ root: 'DeleteResult', entries: ['Deleted', 'Error'], mostEntries: 1_000, bytes: 4 * MiB },
      ...{ entry: () => '<Deleted><Key>a</Key></Deleted>', fields: ['Key', 'Code', 'Message', 'VersionId'] },
    },
  }),
  ofStore({
    ...{ name: 'AccessControlPolicy', parser: 'plugins/bulk/migrate/kept-headers.ts' },
    parse: (xml) => grantsOf(scanAnswer(xml, acl)),
    form: {
      ...{ root: 'AccessControlPolicy', list: 'AccessControlList', entries: ['Grant'], mostEntries: 1_000 },
      ...{ bytes: 256 * KiB, fields: ['Permission', 'Grantee', 'ID'] },
      entry: () => '<Grant><Grantee><ID>a</ID></Grantee><Permission>READ</Permission></Grant>',
    },
  }),
  ofStore({
    ...{ name: 'Error', parser: 'objects/upstream/upstream.ts' },
    parse: (xml) => refusalOf(400, xml.toString()),
    form: {
      ...{ root: 'Error', entries: ['Code', 'Message'], mostEntries: 1_000, bytes: 64 * KiB },
      ...{ entry: () => '<Code>a</Code>', fields: ['Key', 'BucketName', 'Condition'] },
    },
  }),
];
