import type { Cause } from './compare.ts';

/** What passes at MinIO and fails through the proxy. Most rows of the suite fail at MinIO itself, by its words or its codes. */
export const lostRowsMinio: readonly Cause[] = [
  {
    kind: 'decision',
    cause: 'form POST: it would store a body that the proxy does not encrypt',
    rows: [
      'PostObject_success',
      'PostObject_success_status_200',
      'PostObject_should_ignore_anything_after_file',
      'PostObject_success_with_tagging',
      'PostObject_success_double_dash_boundary',
      'PostObject_checksums_success',
    ],
  },
  {
    kind: 'decision',
    cause:
      "of a source's version that is no version id, the proxy tells what MinIO says of it in a read, which is not what it says in a copy",
    rows: [
      'Versioning_CopyObject_non_existing_version_id',
      'Versioning_UploadPartCopy_non_existing_versionId',
    ],
  },
];
