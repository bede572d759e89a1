import { fileURLToPath } from 'node:url';
import { go, requireGo } from '../go.ts';
import type { Architecture } from '../vm/types.ts';

const GOARCH: Readonly<Record<Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };
const MODULE = fileURLToPath(new URL('../../tools/bypass', import.meta.url));

/**
 * Builds the program into that folder; Go's own cache makes it quick. It needs nothing else on the machine it runs on.
 * @returns its path
 * @throws ToolUnavailable without a go command
 */
export async function buildBypass(
  folder: string,
  architecture: Architecture = process.arch as Architecture,
): Promise<string> {
  await requireGo();
  const path = `${folder}/bypass`;
  const target = { CGO_ENABLED: '0', GOARCH: GOARCH[architecture] };
  await go(['build', '-C', MODULE, '-trimpath', '-ldflags', '-s -w', '-o', path, '.'], target);
  return path;
}
