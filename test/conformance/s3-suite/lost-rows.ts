import type { Cause } from './compare.ts';

/** What passes at versitygw and fails through the proxy, by cause: each row by its first difference. */
export const lostRows: readonly Cause[] = [
  {
    kind: 'decision',
    cause: 'form POST: it would store a body that the proxy does not encrypt',
    rows: [
      'PostObject_invalid_content_type',
      'PostObject_missing_boundary',
      'PostObject_partial_auth_fields',
      'PostObject_invalid_algorithm',
      'PostObject_invalid_date',
      'PostObject_invalid_credential_format',
      'PostObject_incorrect_region',
      'PostObject_non_existing_access_key',
      'PostObject_signature_mismatch',
      'PostObject_expired_due_to_date',
      'PostObject_access_denied',
      'PostObject_invalid_object_names',
      'PostObject_policy_access_control',
      'PostObject_policy_expired',
      'PostObject_invalid_policy_document',
      'PostObject_policy_condition_key_mismatch',
      'PostObject_policy_extra_field',
      'PostObject_policy_missing_bucket_condition',
      'PostObject_policy_content_length_too_large',
      'PostObject_policy_content_length_too_small',
      'PostObject_success',
      'PostObject_success_status_200',
      'PostObject_success_status_201',
      'PostObject_should_ignore_anything_after_file',
      'PostObject_success_with_meta_properties',
      'PostObject_default_content_type',
      'PostObject_invalid_website_redirect_location',
      'PostObject_invalid_tagging',
      'PostObject_success_with_tagging',
      'PostObject_success_double_dash_boundary',
      'PostObject_invalid_checksum_value',
      'PostObject_invalid_checksum_algorithm',
      'PostObject_multiple_checksum_headers',
      'PostObject_checksums_success',
    ],
  },
  {
    kind: 'decision',
    cause:
      'unsigned requests: a proxy with keys of its own serves only callers who sign with them, whatever a bucket allows',
    rows: [
      'HeadObject_overrides_fail_public',
      'GetObject_overrides_fail_public',
      'PublicBucket_default_private_bucket',
      'PublicBucket_public_bucket_policy',
      'PublicBucket_public_object_policy',
      'PublicBucket_public_acl',
      'PublicBucket_policy_deny_overrides_public_acl',
      'PublicBucket_signed_streaming_payload',
      'PublicBucket_incorrect_sha256_hash',
    ],
  },
  {
    kind: 'decision',
    cause:
      'ETags are of ciphertext: no MD5 of the plaintext, not equal for equal objects, and with -svc at the end',
    rows: ['PutObject_success', 'CompleteMultipartUpload_racey_data_integrity', 'PutObject_with_slashes'],
  },
  {
    kind: 'decision',
    cause: 'callers may sign for any region',
    rows: ['Authentication_credentials_incorrect_region', 'PresignedAuth_creds_incorrect_region'],
  },
  {
    kind: 'decision',
    cause: 'keys with a segment . or .. are InvalidURI: stores resolve them to other objects',
    rows: ['PutObject_invalid_object_names'],
  },
  {
    kind: 'decision',
    cause:
      'the proxy takes what the store refuses: chunks below 8 KiB, chunked bodies without a length, chunked documents, heads of up to 16 KiB',
    rows: [
      'UnsignedStreamingPayloadTrailer_missing_invalid_dec_content_length',
      'UnsignedStreamingPayloadTrailer_invalid_chunk_size',
      'UnsignedStreamingPayloadTrailer_not_allowed',
      'SignedStreamingPayload_invalid_chunk_size',
      'Server_large_http_header',
    ],
  },
  {
    kind: 'decision',
    cause:
      "S3's own answer, where versitygw has another: an empty deletion list is malformed; the two sizes in a message stand the right way round; a copy whose condition fails is a 412; an encoded question mark is part of the source's key; what is not allowed is so of the object",
    rows: [
      'DeleteObjects_empty_input',
      'CompleteMultipartUpload_mpu_object_size',
      'CopyObject_conditional_reads',
      'UploadPartCopy_conditional_reads',
      'Versioning_CopyObject_encoded_versionid_separator_invalid_versionId',
      'Versioning_UploadPartCopy_encoded_versionid_separator_invalid_versionId',
      'RouterPostObjectWithoutQuery',
    ],
  },
  {
    kind: 'decision',
    cause:
      'of two mistakes in a request the proxy tells the other one: a chunk that exceeds the announced length before what is wrong behind it, a source that is no name before a bucket that is not there',
    rows: ['UnsignedStreamingPayloadTrailer_incomplete_body', 'UploadPartCopy_non_existing_bucket'],
  },
  {
    kind: 'decision',
    cause:
      'checksums: an upload begun without an algorithm has none (the default would cost as much as the rest), nor have listings of uploads, and none is the word null',
    rows: [
      'CompleteMultipartUpload_should_ignore_the_final_checksum',
      'ListMultipartUploads_with_checksums',
      'ListParts_null_checksums',
    ],
  },
  {
    kind: 'decision',
    cause:
      'versitygw lists a version behind a null delete marker, but answers 404 to its HEAD: neither size nor checksum can be asked for',
    rows: ['Versioning_PutObject_overwrite_null_versionId_obj', 'Versioning_DeleteObject_suspended'],
  },
];

/** Pass or fail by chance, at the store too: it orders uploads by their time, and some of these begin at the same one. */
export const unsteadyRows: readonly string[] = ['ListMultipartUploads_keyMarker_not_from_list'];
