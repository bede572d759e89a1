import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnv } from '../../support/clean-env.ts';
import { commandsIn } from './console.ts';
import { cloneIn, programsIn } from './programs.ts';
import { openShell } from './shell.ts';
import { shellBlock } from './shell-blocks.ts';

/** Somebody at a terminal who is an administrator of a cluster, and has the page docs/INSTALL.md. */
export interface Administrator {
  readonly kubeconfig: string;
  /** In which the administrator gets a folder. */
  readonly folder: string;
  /** PEM of the authority behind secrets server, store and registry. */
  readonly authority: string;
  /** How long a line may take. */
  readonly longestMs?: number;
}

export interface TypedLine {
  readonly command: string;
  readonly output: string;
  readonly status: number;
}

/**
 * Types blocks of the page in a shell of their own, line by line, until one fails.
 * @param names those of `SHELL_BLOCKS`
 * @throws Error where the page has no such block; ToolUnavailable
 */
export async function typeInstallPage(
  { kubeconfig, folder, authority, longestMs }: Administrator,
  ...names: readonly string[]
): Promise<readonly TypedLine[]> {
  const cwd = mkdtempSync(join(folder, 'clone-'));
  cloneIn(cwd, 'manifests', 'scripts');
  writeFileSync(join(cwd, authorityFile), authority);
  const bin = await programsIn(cwd, { helm: 'helm', kubernetes: 'kubectl' });
  const env = cleanEnv({
    ...{ HOME: cwd, PATH: `${bin}:${process.env['PATH']}`, LC_ALL: 'C.UTF-8', KUBECONFIG: kubeconfig },
  });
  const shell = await openShell({ cwd, env, alone: false, ...(longestMs && { longestMs }) });
  const typed: TypedLine[] = [];
  try {
    for (const command of names.flatMap((name) => commandsIn(shellBlock('INSTALL.md', name)))) {
      const { output, status } = await shell.type(asOwn(command));
      typed.push({ command, output: output.trim(), status });
      if (status !== 0) break;
    }
    return typed;
  } finally {
    await shell.end();
  }
}

const authorityFile = 'vault-ca.pem';

/**
 * What the page has as an example, and the test beds have something else for: they have one node, on which no three replicas
 * find a place, and a private authority. Names of registry and secrets server are those of the page.
 */
export const ownOf = (authority: string): Readonly<Record<string, string>> => ({
  'registry=registry.example,operator.ha=true': 'registry=registry.example',
  '--set operator.vaultAddress=https://vault.example.eu:8200': [
    '--set operator.vaultAddress=https://vault.example.eu:8200',
    ...['vaultCA', 'storeCA', 'registryCA'].map((name) => `--set-file operator.${name}=${authority}`),
  ].join(' '),
});

const asOwn = (command: string): string =>
  Object.entries(ownOf(authorityFile)).reduce(
    (text, [example, own]) => text.replaceAll(example, own),
    command,
  );
