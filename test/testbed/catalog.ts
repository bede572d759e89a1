import { boto3 } from './recipes/boto3.ts';
import { minio, rclone, versitygw } from './recipes/go.ts';
import { openbao } from './recipes/openbao.ts';
import { type Recipe, TOOL_NAMES, type ToolName } from './types.ts';

const debian = (command: string): Recipe => ({ kind: 'system', command, debianPackage: command });

/** `rclone-client` is Debian's, quick to have; `rclone` is a current one that can also serve S3. */
export const CATALOG: Readonly<Record<ToolName, Recipe>> = {
  openbao,
  versitygw,
  boto3,
  awscli: { kind: 'system', command: 'aws', debianPackage: 'awscli' },
  s3cmd: debian('s3cmd'),
  'rclone-client': debian('rclone'),
  minio,
  rclone,
  tini: debian('tini'),
};

const CLIENTS: readonly ToolName[] = ['boto3', 'awscli', 's3cmd', 'rclone-client'];

/** What `npm test` needs, in the order to have it: what takes minutes comes last. */
export const TEST_TOOLS: readonly ToolName[] = ['openbao', 'versitygw', ...CLIENTS, 'minio'];

/**
 * Turns the names of a command line into tools; `clients` means all clients.
 * @throws Error naming what is known when a name is not
 */
export function toolsNamed(words: readonly string[]): ToolName[] {
  return words.flatMap((word) => {
    if (word === 'clients') return CLIENTS;
    if ((TOOL_NAMES as readonly string[]).includes(word)) return [word as ToolName];
    throw new Error(`unknown tool ${word}; known: ${[...TOOL_NAMES, 'clients'].join(', ')}`);
  });
}
