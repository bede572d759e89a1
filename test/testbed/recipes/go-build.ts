import { exec } from '../exec.ts';

/** Says at most this often how far a build is. */
const SAY_EVERY_MS = 30_000;

export interface GoBuild {
  readonly name: string;
  /** Folder of the module. */
  readonly cwd: string;
  /** `build`, and flags that decide what comes out. */
  readonly flags: readonly string[];
  readonly output: string;
  readonly packages: readonly string[];
}

/**
 * Builds commands from a Go module and says how far it is. What has been compiled stays in Go's own cache: a build that
 * was ended goes on from there when it is tried again.
 */
export async function goBuild({ name, cwd, flags, output, packages }: GoBuild): Promise<void> {
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' };
  const [verb = '', ...decisive] = flags;
  // without the debug information, which -w has the linker leave out, it need not be made either
  const same = [...decisive, '-gcflags=all=-dwarf=false'];
  const list = ['list', '-deps', ...same, '-f', '{{if .Stale}}{{.ImportPath}}{{end}}', ...packages];
  const stale = (await exec('go', list, { cwd, env })).split('\n').filter(Boolean).length;
  const onProgress = counter(name, stale);
  await exec('go', [verb, '-v', ...same, '-o', output, ...packages], { cwd, env, onProgress });
}

/** Counts the packages that `go build -v` names when it compiles them. */
function counter(name: string, all: number): (text: string) => void {
  const started = performance.now();
  let compiled = 0;
  let said = started;
  return (text) => {
    compiled += text.split('\n').length - 1;
    const now = performance.now();
    if (now - said < SAY_EVERY_MS) return;
    said = now;
    const seconds = Math.round((now - started) / 1000);
    process.stderr.write(`test bed: ${name}: ${compiled} of ${all} packages compiled after ${seconds} s\n`);
  };
}
