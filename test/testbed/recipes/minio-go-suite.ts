import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';
import { goBuild } from './go-build.ts';
import { ownModule } from './own-go-tool.ts';

const NAME = 'minio-go-suite';
const MODULE = 'github.com/minio/minio-go/v7';
const FILES = ['main.go', 'go.mod', 'go.sum'];
const FLAGS = ['build', '-trimpath', '-ldflags=-s -w', '-tags=suite'];

const source = (file: string) => join(ownModule(NAME), file);

/**
 * The functional tests of MinIO's client library for Go. They are a program in the module of the library, whose `main`
 * would run all of them and end at the first that panics: built beside ours, which runs them one by one.
 */
export const minioGoSuite: CachedRecipe = {
  kind: 'cached',
  version: '7.4.1',
  id: FILES.map((file) => readFileSync(source(file), 'utf8'))
    .concat(FLAGS)
    .join('\n'),
  bins: { [NAME]: NAME },
  async build(dir) {
    const module = join(dir, 'module');
    mkdirSync(module);
    for (const file of FILES) copyFileSync(source(file), join(module, file));
    await exec('go', ['mod', 'download'], { cwd: module });
    const found = await exec('go', ['list', '-m', '-f', '{{.Dir}}', MODULE], { cwd: module });
    const tests = readFileSync(join(found.trim(), 'functional_tests.go'), 'utf8');
    writeFileSync(join(module, 'functional.go'), asPart(tests));
    await goBuild({ name: NAME, cwd: module, flags: FLAGS, output: join(dir, NAME), packages: ['.'] });
    rmSync(module, { recursive: true });
  },
};

/** With their own tag, Go would take the file for one of the library itself, too. */
const asPart = (tests: string): string =>
  tests
    .replace('//go:build mint\n', '//go:build suite\n')
    .replace('\nfunc main() {\n', '\nfunc allAtOnce() {\n');
