/** Which objects, and how much of each. */
export interface Selection {
  /** Of the collection: `/api/v1/pods`. */
  readonly path: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** The objects come with their metadata alone, which spares the API server and us the rest. */
  readonly metadataOnly?: boolean;
}

/** The `Accept` header for it. */
export function acceptFor({ metadataOnly = false }: Selection, kind: 'list' | 'watch'): string {
  if (!metadataOnly) return 'application/json';
  return kind === 'list' ? metadataAs('PartialObjectMetadataList') : acceptMetadata;
}

function metadataAs(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`;
}

/** The `Accept` header for a single object of which the metadata is enough. */
export const acceptMetadata = metadataAs('PartialObjectMetadata');
