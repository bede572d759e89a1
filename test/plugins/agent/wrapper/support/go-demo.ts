import { go, requireGo } from '../../../../support/go.ts';

/** Builds the demo server of the Go SDK into that folder, statically. @returns its path */
export async function buildGoDemo(folder: string): Promise<string> {
  await requireGo();
  const path = `${folder}/demo`;
  await go(['build', '-trimpath', '-ldflags', '-s -w', '-o', path, './cmd/demo'], { CGO_ENABLED: '0' });
  return path;
}
