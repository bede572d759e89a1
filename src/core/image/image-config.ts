import type { ImageCommand } from '../injection/contract.ts';
import { ImageError } from './image-error.ts';
import { isJsonObject, type JsonObject, readJsonObject, textOf } from './json.ts';

/** Together; a pod could be given more, but what is kept of many images must stay small. */
const longestCommand = 32 * 1024;
const longestUser = 256;

/**
 * What an image runs, from its configuration.
 * Source: https://github.com/opencontainers/image-spec (config.md)
 * @throws ImageError when it is not for Linux, or says nothing that can be run
 */
export function readImageConfig(bytes: Uint8Array): ImageCommand {
  const document = readJsonObject(bytes, 'its configuration');
  const os = textOf(document['os']) ?? '';
  if (os !== '' && os !== 'linux') throw new ImageError('it is not for Linux');
  const config = document['config'] ?? {};
  if (!isJsonObject(config)) throw new ImageError('its configuration is not that of an image');
  const command = { entrypoint: words(config, 'Entrypoint'), cmd: words(config, 'Cmd'), user: user(config) };
  const size = [...command.entrypoint, ...command.cmd].reduce(
    (sum, word) => sum + Buffer.byteLength(word) + 1,
    0,
  );
  if (size > longestCommand) throw new ImageError(`its command has more than ${longestCommand} bytes`);
  return command;
}

/** Whether two images run the same in the same way. */
export function isSameCommand(a: ImageCommand, b: ImageCommand): boolean {
  return a.user === b.user && isSameList(a.entrypoint, b.entrypoint) && isSameList(a.cmd, b.cmd);
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index]);
}

function words(config: JsonObject, name: string): readonly string[] {
  const value = config[name] ?? [];
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string' && !word.includes('\0')))
    throw new ImageError(`${name} of its configuration is no list of arguments`);
  return value;
}

function user(config: JsonObject): string {
  const value = config['User'] ?? '';
  if (typeof value !== 'string' || value.length > longestUser || /\p{Cc}/u.test(value))
    throw new ImageError('User of its configuration is no user');
  return value;
}
