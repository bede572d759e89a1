import { ownGoTool } from './own-go-tool.ts';

/** Uploads and downloads by MinIO's client library for Go. */
export const minioGoClient = ownGoTool('minio-go-client', '7.4.1');
