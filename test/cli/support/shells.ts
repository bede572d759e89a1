import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanEnv } from '../../support/clean-env.ts';
import { reapProcess } from '../../support/reaper.ts';

/** What a shell offers for a line; `script` is what `svc completion` wrote for it. */
export type Complete = (script: string, line: string, folder: string) => Promise<string[]>;

/** Calls the function as bash does; `@default` stands for what bash offers by itself, files that is. */
export const inBash: Complete = async (script, line) => {
  const words = line
    .replaceAll('=', ' = ')
    .split(' ')
    .filter((word, index, all) => word !== '' || index === all.length - 1);
  const program = `${script}
compopt() { printf '@default\\n'; }
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}
_svc
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return lines(spawnSync('bash', ['--norc'], { input: program, encoding: 'utf8', env: cleanEnv() }).stdout);
};

/** Asks fish, which answers such questions by itself. */
export function inFish(fish: string): Complete {
  return async (script, line, folder) => {
    const program = join(folder, 'complete.fish');
    writeFileSync(program, `${script}\ncomplete --do-complete '${line}'\n`);
    const env = cleanEnv({ HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder });
    const { stdout } = spawnSync(fish, ['--no-config', program], { encoding: 'utf8', cwd: folder, env });
    return lines(stdout).map((offered) => offered.split('\t')[0] ?? '');
  };
}

/** Types the line and a tab into an interactive zsh, whose matches are written to a file. */
export function inZsh(zsh: string): Complete {
  return async (script, line, folder) => {
    const home = join(folder, `zsh-${Math.random().toString(36).slice(2)}`);
    mkdirSync(home);
    writeFileSync(join(home, '.zshrc'), zshrc(script));
    const out = join(home, 'offered');
    const env = cleanEnv({ HOME: home, ZDOTDIR: home, OUT: out, TERM: 'dumb' });
    const shell = spawn('script', ['-qfec', `${zsh} -i`, '/dev/null'], {
      cwd: folder,
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    if (shell.pid) shell.once('exit', reapProcess(shell.pid));
    shell.stdin.write(`${line}\t`);
    try {
      return await offered(out);
    } finally {
      shell.kill('SIGKILL');
    }
  };
}

const END = '<end>';

const zshrc = (script: string) => `autoload -Uz compinit
compinit -D -u
${script}
compadd() {
  local -a hits
  if (( \${argv[(I)-[OAD]]} )); then builtin compadd "$@"; return; fi
  builtin compadd -O hits "$@"
  (( $#hits )) && print -rl -- $hits >> $OUT
  builtin compadd "$@"
}
complete-and-tell() { zle complete-word; print -r -- '${END}' >> $OUT; }
zle -N complete-and-tell
bindkey '^I' complete-and-tell
`;

async function offered(file: string): Promise<string[]> {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (text.includes(END)) return lines(text).filter((word) => word !== END);
    await sleep(50);
  }
  throw new Error('zsh did not complete within a minute');
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
