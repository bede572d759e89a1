import type { Facts } from '../facts.ts';
import { bucket } from './round-trip.ts';

/** Shell lines that work as they stand, in the folder in which `svc dev` was started. */
export interface TryLines {
  readonly write: string;
  readonly read: string;
  /** The first stored bytes of the same object. */
  readonly look: string;
}

const file = 'README.md';
const note = 'note.txt';

/** `hasReadme`: whether the folder has a README.md to copy; otherwise a line of text is. */
export function tryLines({ proxy, peek, client }: Facts, hasReadme: boolean): TryLines {
  const environment = [
    `AWS_ACCESS_KEY_ID=${client.accessKeyId}`,
    `AWS_SECRET_ACCESS_KEY=${client.secretAccessKey}`,
    `AWS_DEFAULT_REGION=${client.region}`,
  ];
  const aws = `${environment.join(' ')} aws --endpoint-url ${proxy} s3 cp`;
  const key = hasReadme ? file : note;
  return {
    write: hasReadme
      ? `${aws} ${file} s3://${bucket}/${key}`
      : `echo 'for my eyes only' | ${aws} - s3://${bucket}/${key}`,
    read: `${aws} s3://${bucket}/${key} -`,
    look: `curl -s -r 0-159 ${peek}/${bucket}/${key} | od -A d -t x1z`,
  };
}
