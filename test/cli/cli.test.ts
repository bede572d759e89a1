import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { disagreement, parseScript } from './support/script.ts';
import { ensureBuilt, makeHome } from './support/svc.ts';

export const slow = true;

export const timeout = 300_000;

const SCRIPTS = new URL('./scripts/', import.meta.url);
const cli = suite('cli');

cli.before(ensureBuilt);

for (const file of readdirSync(SCRIPTS).sort()) {
  cli(file, () => {
    const home = makeHome();
    try {
      for (const step of parseScript(readFileSync(new URL(file, SCRIPTS), 'utf8'))) {
        const wrong = disagreement(step, home.bash(step.command));
        assert.is(wrong, '', `${file}:${step.line}: $ ${step.command}\n${wrong}`);
      }
    } finally {
      home.remove();
    }
  });
}

cli.run();
