import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  choosePlatforms,
  isSameCommand,
  readImageConfig,
  readManifest,
} from '../../../src/cluster/images/manifest.ts';
import { digestOf, verifyDigest } from '../../../src/cluster/images/reference.ts';
import { entryOf, makeAttestation, makeImage, makeIndex, mediaTypes } from '../../support/registry-images.ts';

const test = suite('manifests');
const json = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const read = (value: unknown, type = '') => readManifest(json(value), type);
const image = makeImage();
const good = JSON.parse(image.manifest.bytes.toString());

test('of OCI and Docker name the configuration', () => {
  for (const format of ['oci', 'docker'] as const) {
    const { manifest, blobs } = makeImage({ format });
    assert.equal(readManifest(manifest.bytes, ''), { kind: 'image', config: blobs[0]?.digest });
  }
  const { mediaType, ...unnamed } = good;
  assert.is(read(unnamed, `${mediaType}; charset=utf-8`).kind, 'image');
});

test('of several platforms list the images without their attestations', () => {
  const arm = makeImage({ architecture: 'arm64' });
  const { entry } = makeAttestation(arm);
  const signature = { ...entryOf(image), artifactType: 'application/vnd.example.signature' };
  const annotations = { 'vnd.docker.reference.type': 'attestation-manifest' };
  const named = { ...entryOf(image), annotations };
  const unknown = { ...entryOf(image), platform: { os: 'unknown', architecture: 'unknown' } };
  for (const format of ['oci', 'docker'] as const) {
    const { bytes } = makeIndex([entry, named, unknown, signature, entryOf(arm), entryOf(image)], format);
    const manifest = readManifest(bytes, '');
    const digests = manifest.kind === 'index' && manifest.entries.map(({ digest }) => digest);
    assert.equal(digests, [arm.manifest.digest, image.manifest.digest]);
  }
});

const refusals: readonly (readonly [unknown, RegExp])[] = [
  ['<html>', /no JSON/],
  ['[]', /not a JSON object/],
  ['null', /not a JSON object/],
  [{ schemaVersion: 1, fsLayers: [], history: [] }, /schema of Docker before 1.10/],
  [{ ...good, schemaVersion: undefined }, /schema/],
  [{ ...good, manifests: [] }, /also has members of an index/],
  [{ ...JSON.parse(makeIndex([]).bytes.toString()), config: {} }, /also has members of a manifest/],
  [{ ...good, config: undefined }, /no configuration/],
  [{ ...good, config: { ...good.config, digest: 'sha256:../../x' } }, /no configuration/],
  [{ ...good, config: { ...good.config, mediaType: 'application/vnd.cncf.helm.config.v1+json' } }, /helm/],
  [{ ...good, mediaType: 'text/html' }, /text\/html/],
  [{ ...good, mediaType: '<script>' }, /media type unknown/],
  [{ schemaVersion: 2, mediaType: mediaTypes.oci.index, manifests: {} }, /no list/],
  [{ schemaVersion: 2, mediaType: mediaTypes.oci.index, manifests: [1] }, /not an object/],
  [{ schemaVersion: 2, mediaType: mediaTypes.oci.index, manifests: [{ digest: 'x' }] }, /without a digest/],
];

test('that are of no image are refused with the reason', () => {
  for (const [value, reason] of refusals) {
    assert.throws(
      () => read(value),
      (error: Error) => error.name === 'ImageError' && reason.test(error.message),
      String(reason),
    );
  }
});

function chosen(architectures: readonly (string | undefined)[], wanted?: string): (string | undefined)[] {
  const entries = architectures.map((architecture, index) => ({
    digest: `${architecture}-${index}`,
    mediaType: '',
    platform:
      architecture === undefined
        ? undefined
        : { os: architecture === 'win' ? 'windows' : 'linux', architecture },
  }));
  return choosePlatforms(entries, wanted).map(({ platform }) => platform?.architecture);
}

test('give the images that the pod could get, the likeliest first', () => {
  assert.equal(chosen(['s390x', 'arm64', '386', 'amd64', 'arm', 'win']), ['amd64', 'arm64', 's390x']);
  assert.equal(chosen(['arm64']), ['arm64']);
  assert.equal(chosen(['riscv64', 'win']), ['riscv64']);
  assert.equal(chosen(['arm64', 'amd64', 'amd64'], 'amd64'), ['amd64', 'amd64']);
  assert.equal(chosen(['arm', 'amd64'], 'arm'), ['arm']);
  assert.equal(chosen([undefined, 'win']), [undefined]);
  assert.throws(() => chosen(['amd64', 'win'], 'arm64'), /no image for linux\/arm64, but those for amd64/);
  assert.throws(() => chosen(['win']), /none for Linux/);
  assert.throws(() => chosen([]), /none for Linux/);
  assert.throws(() => chosen(Array(9).fill('amd64')), /at most 8/);
});

test('name a configuration that says what runs', () => {
  const config = { Entrypoint: ['/bin/sh', '-c'], Cmd: ['', 'é'], User: '7:7' };
  const command = readImageConfig(json({ os: 'linux', config }));
  assert.equal(command, { entrypoint: ['/bin/sh', '-c'], cmd: ['', 'é'], user: '7:7' });
  const nothing = { entrypoint: [], cmd: [], user: '' };
  assert.equal(readImageConfig(json({ config: { Entrypoint: null, Cmd: null } })), nothing);
  assert.equal(readImageConfig(json({})), nothing);
  assert.ok(isSameCommand(command, structuredClone(command)));
  for (const other of [{ entrypoint: ['/bin/sh'] }, { cmd: ['é', ''] }, { user: '' }])
    assert.not(isSameCommand(command, { ...command, ...other }));
});

test('name a configuration that is refused where it cannot be run', () => {
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [{ os: 'windows' }, /not for Linux/],
    [{ config: 'x' }, /not that of an image/],
    [{ config: { Entrypoint: '/bin/sh' } }, /Entrypoint/],
    [{ config: { Cmd: [1] } }, /Cmd/],
    [{ config: { Cmd: ['a\0b'] } }, /Cmd/],
    [{ config: { User: 7 } }, /User/],
    [{ config: { User: 'a\nb' } }, /User/],
    [{ config: { Cmd: ['x'.repeat(33 * 1024)] } }, /bytes/],
  ];
  for (const [value, reason] of wrong) assert.throws(() => readImageConfig(json(value)), reason);
});

test('are what their digest says', () => {
  const bytes = json('content');
  for (const algorithm of ['sha256', 'sha384', 'sha512']) {
    const digest = digestOf(bytes, algorithm);
    verifyDigest(bytes, digest);
    assert.throws(() => verifyDigest(json('other'), digest), /another digest/);
  }
  assert.throws(() => verifyDigest(bytes, digestOf(bytes, 'md5')), /sha256/);
});

test.run();
