import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const FORMATTER = 'clang-format-19';
/** Folders with sources in C, the BPF programs', svc-init's and tests'. */
const FOLDERS = ['bpf', 'init', 'test'];

export const hasFormatter = () => spawnSync(FORMATTER, ['--version'], { stdio: 'ignore' }).status === 0;

/** What is not formatted as .clang-format says, as the formatter tells it; empty where nothing is. */
export function badlyFormatted(root) {
  const { status, stderr, error } = spawnSync(
    FORMATTER,
    ['--dry-run', '--Werror', '--ferror-limit=1', ...sources(root)],
    { cwd: root, encoding: 'utf8' },
  );
  if (status === 0) return '';
  const files = sources(root).filter((path) => stderr?.includes(`${path}:`));
  return error?.message ?? `run \`${FORMATTER} -i ${files.join(' ')}\`\n${stderr}`;
}

function sources(root) {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.[ch]$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name))),
  );
}
