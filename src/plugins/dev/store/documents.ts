import { element } from '../../../core/s3/xml-write.ts';

export const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

const ownerId = 'svc-dev';
export const owner = `<Owner>${element('ID', ownerId)}${element('DisplayName', ownerId)}</Owner>`;

export const quoted = (etag: string): string => `"${etag}"`;

/** ISO 8601, of milliseconds since 1970. */
export const isoTime = (time: number): string => new Date(time).toISOString();
