import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CONFIG = join(ROOT, '.dependency-cruiser.cjs');
const CRUISER = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');

interface Breach {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

const imports = (specifier: string) => `import * as it from '${specifier}';\nexport const used = it;\n`;
const importsType = (specifier: string) =>
  `import type * as types from '${specifier}';\nexport type Types = typeof types;\n`;
const importsLate = (specifier: string) => `export const late = () => import('${specifier}');\n`;

/** Each rule broken once: the file, what it imports, and the rule that must say so. */
const BREACHES: readonly (readonly [rule: string, from: string, specifier: string])[] = [
  ['no-unresolved', 'src/runtime/bounds/lost.ts', './nowhere.ts'],
  ['rules-do-no-io', 'src/runtime/bounds/reads.ts', 'node:fs/promises'],
  ['runtime-below-all', 'src/runtime/above.ts', '../keyserver/client.ts'],
  ['keyserver-on-runtime', 'src/keyserver/above.ts', '../objects/fine.ts'],
  ['objects-on-keyserver', 'src/objects/above.ts', '../plugins/one/part.ts'],
  ['objects-on-keyserver', 'src/objects/sideways.ts', '../cluster/fine.ts'],
  ['cluster-on-keyserver', 'src/cluster/sideways.ts', '../objects/fine.ts'],
  ['plugins-below-commands', 'src/plugins/one/above.ts', '../../commands/fine.ts'],
  ['no-plugin-to-plugin', 'src/plugins/one/sideways.ts', '../two/part.ts'],
  ['commands-load-plugins-late', 'src/commands/early.ts', '../plugins/one/part.ts'],
  ['commands-load-heavy-packages-late', 'src/commands/heavy.ts', 'pino'],
  ['commands-load-heavy-packages-late', 'src/plugins/two/settings.ts', '@aws-sdk/client-s3'],
  ['commands-load-heavy-packages-late', 'src/plugin-api/heavy.ts', 'pino'],
  ['public-api-above-runtime', 'src/plugin-api/above.ts', '../plugins/one/part.ts'],
  ['public-api-is-for-others', 'src/runtime/circular.ts', '../plugin-api/fine.ts'],
  ['runtime-indexes-are-light', 'src/runtime/health/index.ts', 'prom-client'],
  ['native-calls-in-one-place', 'src/runtime/elsewhere.ts', 'ffi-rs'],
  ['wrapper-without-child-process', 'src/plugins/wrapper/starts.ts', 'node:child_process'],
  ['wrapper-without-child-process', 'src/runtime/native/starts.ts', 'child_process'],
  ['wrapper-without-child-process', 'src/wrapper-main.ts', 'node:child_process'],
  ['vault-client-in-one-place', 'src/plugins/one/vault.ts', 'node-vault'],
  ['src-without-test', 'src/runtime/bounds/tested.ts', '../../../test/helper.ts'],
  ['src-without-dev-packages', 'src/runtime/bounds/generated.ts', 'fast-check'],
  ['src-without-dev-packages', 'src/runtime/bounds/undeclared.ts', 'undeclared'],
];

/** What the rules leave alone. */
const ALLOWED: Readonly<Record<string, string>> = {
  'src/commands/fine.ts': importsLate('../plugins/one/part.ts') + importsLate('prom-client'),
  'src/commands/settings.ts': imports('../plugins/one/settings.ts'),
  'src/plugins/one/part.ts': imports('../../runtime/shared.ts') + importsLate('./settings.ts'),
  'src/plugins/one/settings.ts': imports('../../runtime/bounds/base.ts'),
  'src/plugins/two/inner/settings.ts': imports('../../../runtime/bounds/base.ts'),
  'src/commands/inner.ts': imports('../plugins/two/inner/settings.ts'),
  'src/plugins/two/part.ts': imports('../../runtime/bounds/base.ts'),
  'src/plugin-api/fine.ts': imports('../runtime/bounds/base.ts') + importsLate('prom-client'),
  'src/runtime/shared.ts': imports('./bounds/base.ts') + importsLate('prom-client'),
  'src/runtime/native/call.ts': imports('ffi-rs'),
  'src/keyserver/client.ts': imports('node-vault'),
  'src/objects/fine.ts': imports('../keyserver/client.ts'),
  'src/cluster/fine.ts': imports('../runtime/bounds/base.ts'),
  'src/runtime/bounds/base.ts': imports('node:crypto') + importsType('node:http'),
  'test/helper.ts': 'export const helper = 1;\n',
};

const OTHERS: Readonly<Record<string, string>> = {
  'src/runtime/bounds/orphan.ts': 'export const alone = 1;\n',
  'src/runtime/bounds/cycle-a.ts': imports('./cycle-b.ts'),
  'src/runtime/bounds/cycle-b.ts': imports('./cycle-a.ts'),
};

const PACKAGES = [
  'pino',
  'prom-client',
  '@aws-sdk/client-s3',
  'ffi-rs',
  'node-vault',
  'fast-check',
  'undeclared',
];

function packageFiles(): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of PACKAGES) {
    files[`node_modules/${name}/package.json`] = JSON.stringify({ name, version: '1.0.0', main: 'index.js' });
    files[`node_modules/${name}/index.js`] = 'module.exports = 1;\n';
  }
  const pinned = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '1.0.0']));
  files['package.json'] = JSON.stringify({
    name: 'tree',
    dependencies: pinned(['ffi-rs']),
    devDependencies: pinned(PACKAGES.filter((name) => name !== 'undeclared' && name !== 'ffi-rs')),
  });
  files['tsconfig.json'] = JSON.stringify({
    compilerOptions: { module: 'NodeNext', allowImportingTsExtensions: true },
  });
  return files;
}

function writeTree(root: string): void {
  const broken = Object.fromEntries(BREACHES.map(([, from, specifier]) => [from, imports(specifier)]));
  for (const [path, text] of Object.entries({ ...packageFiles(), ...ALLOWED, ...OTHERS, ...broken })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function cruise(root: string): Breach[] {
  const args = [CRUISER, 'src', '--config', CONFIG, '--output-type', 'json'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  assert.ok(stdout, stderr);
  const { violations } = JSON.parse(stdout).summary as {
    violations: { rule: { name: string }; from: string; to: string }[];
  };
  return violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
}

const rules = suite('import rules');
let breaches: Breach[] = [];

rules.before(() => {
  const root = mkdtempSync(join(tmpdir(), 'svc-imports-'));
  try {
    writeTree(root);
    breaches = cruise(root);
  } finally {
    rmSync(root, { recursive: true });
  }
});

for (const [rule, from, specifier] of BREACHES) {
  rules(`${rule}: ${from} may not import ${specifier}`, () => {
    assert.ok(
      breaches.some((breach) => breach.rule === rule && breach.from === from),
      JSON.stringify(breaches),
    );
  });
}

rules('no-orphans: a module that nobody imports is found', () => {
  assert.equal(
    breaches.filter(({ rule, from }) => rule === 'no-orphans' && from.includes('orphan')).length,
    1,
  );
});

rules('no-cycles: a cycle is found', () => {
  const cycles = breaches.filter(({ rule }) => rule === 'no-cycles');
  assert.is(cycles.length, 1);
  assert.match(cycles[0]?.from ?? '', /cycle-[ab]/);
});

rules('leave alone what is allowed', () => {
  const wrongly = breaches.filter(({ from }) => from in ALLOWED);
  assert.equal(wrongly, []);
});

rules('each of them is broken by a test here', () => {
  const { forbidden } = createRequire(import.meta.url)(CONFIG) as { forbidden: { name: string }[] };
  const broken = new Set(breaches.map(({ rule }) => rule));
  assert.equal(
    forbidden.map(({ name }) => name).filter((name) => !broken.has(name)),
    [],
  );
});

rules.run();
