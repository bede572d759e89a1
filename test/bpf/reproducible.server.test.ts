import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bpfObjects, buildBpf } from '../../scripts/lib/bpf.mjs';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary.ts';
import { root } from './clang.ts';

const test = suite('builds of the BPF programs');
const folders: TemporaryFolder[] = [];

test.after(async () => {
  for (const folder of folders) await folder.remove();
});

function copySources(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  cpSync(join(from, 'bpf'), join(to, 'bpf'), { recursive: true });
}

/** @returns the objects' contents by their paths */
function build(folder: string): Record<string, string> {
  buildBpf(folder);
  return Object.fromEntries(
    bpfObjects(folder).map((path: string) => [path, readFileSync(join(folder, path), 'hex')]),
  );
}

test('give the same bytes again, in another folder', () => {
  const folder = temporaryFolder('bpf-build');
  folders.push(folder);
  const one = join(folder.path, 'one');
  const another = join(folder.path, 'another', 'and a longer one');
  copySources(root, one);
  copySources(one, another);
  const first = build(one);
  const paths = Object.keys(first);
  assert.is(paths.length, 6);
  assert.is(new Set(Object.values(first)).size, 6, 'each tier and architecture has an object of its own');
  const elsewhere = build(another);
  for (const path of paths) {
    assert.ok(elsewhere[path] === first[path], `${path} differs when built again elsewhere`);
    assert.not(Buffer.from(first[path] ?? '', 'hex').includes(folder.path), `${path} names its folder`);
  }
});

test.run();
