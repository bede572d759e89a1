import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { go, requireGo } from '../support/go.ts';
import { runCommand } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary.ts';

export const timeout = 300_000;
const test = suite('a Go program of somebody else');
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = temporaryFolder('go-consumer');

const program = `package main

import "svc.example/secrets"

func main() {
	store, err := secrets.Open()
	if err != nil {
		panic(err)
	}
	println(store.MustGet("GREETING"))
}
`;

test.before(async () => {
  await requireGo();
  // what the SDK needs is in the module cache from then on
  await go(['mod', 'download', 'golang.org/x/sys']);
});

test.after(() => folder.remove());

test('resolves the SDK by the lines of docs/SDK.md, and asks nobody for its name', async () => {
  const place = join(folder.path, 'app');
  mkdirSync(place);
  writeFileSync(join(place, 'main.go'), program);
  const block = /```sh\n(go mod edit [\s\S]*?)```/.exec(readFileSync(`${root}docs/SDK.md`, 'utf8'))?.[1];
  assert.ok(block, 'docs/SDK.md has the lines');
  const lines = block.replaceAll('../svc/sdk/go', `${root}sdk/go`);
  const script = `set -e\ngo mod init example.test/app\n${lines}\ngo build -o app .\n./app`;
  const env = { GOPROXY: 'off', GOFLAGS: '-mod=mod', GREETING: 'hello' };
  const ran = await runCommand('sh', ['-c', script], place, { env, timeoutMs: 200_000 });
  assert.is(ran.status, 0, ran.stderr);
  assert.match(ran.stderr, /^hello$/m);
});

test.run();
