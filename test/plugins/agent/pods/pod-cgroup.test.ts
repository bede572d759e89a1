import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  belongsToPod,
  isPodUid,
  podUidOf,
  podUidOfProcess,
} from '../../../../src/plugins/agent/pods/pod-cgroup.ts';

const UID = '6f9c1c1e-5d1c-4f0e-9f8a-0d7b3a1f2c4d';
const OTHER = '00000000-5d1c-4f0e-9f8a-0d7b3a1f2c4d';
const STATIC = '0123456789abcdef0123456789abcdef';
const ID = 'c'.repeat(64);
const slice = (uid: string) => `pod${uid.replaceAll('-', '_')}.slice`;

/** Where kubelets and runtimes put a container of the pod. */
const layouts: Readonly<Record<string, (uid: string) => string>> = {
  'cgroupfs, burstable': (uid) => `/kubepods/burstable/pod${uid}/${ID}`,
  'cgroupfs, guaranteed': (uid) => `/kubepods/pod${uid}/${ID}`,
  'cgroupfs, the pod itself': (uid) => `/kubepods/besteffort/pod${uid}`,
  'cgroupfs with a root of its own': (uid) => `/docker/${ID}/kubelet/kubepods/burstable/pod${uid}/${ID}`,
  'systemd, containerd': (uid) =>
    `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-${slice(uid)}/cri-containerd-${ID}.scope`,
  'systemd, cri-o': (uid) =>
    `/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-${slice(uid)}/crio-${ID}.scope/container`,
  'systemd, guaranteed': (uid) => `/kubepods.slice/kubepods-${slice(uid)}/cri-containerd-${ID}.scope`,
  'systemd with a root of its own': (uid) =>
    `/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-${slice(uid)}/cri-containerd-${ID}.scope`,
  'systemd names with a cgroupfs runtime': (uid) =>
    `/system.slice/containerd.service/kubepods-burstable-${slice(uid)}:cri-containerd:${ID}`,
  'namespace of another container of the class, cgroupfs': (uid) => `/../../pod${uid}/${ID}`,
  'namespace of a container of another class, cgroupfs': (uid) => `/../../../burstable/pod${uid}/${ID}`,
  'namespace of a service, cgroupfs': (uid) => `/../../kubepods/burstable/pod${uid}/${ID}`,
  'namespace, systemd': (uid) => `/../../kubepods-burstable-${slice(uid)}/cri-containerd-${ID}.scope`,
  'namespace of the pod, systemd': (uid) => `/../../../kubepods-${slice(uid)}/crio-${ID}.scope`,
};

const test = suite('pod of a cgroup');

for (const [name, path] of Object.entries(layouts)) {
  test(`names the pod: ${name}`, () => {
    assert.is(podUidOf(path(UID)), UID);
    assert.is(podUidOf(path(STATIC)), STATIC);
  });

  test(`takes nothing longer, shorter or in capitals for a UID: ${name}`, () => {
    const wrong = [`${UID}x`, `${UID}0`, `x${UID}`, UID.slice(1), UID.toUpperCase(), '', `${STATIC}0`];
    for (const uid of wrong) assert.is(podUidOf(path(uid)), undefined, uid);
  });
}

const others = [
  '',
  '/',
  '/..',
  '/../..',
  '/system.slice/ssh.service',
  `/pod${UID}`,
  `/burstable/pod${UID}`,
  `/system.slice/pod${UID}`,
  `/kubepods/fast/pod${UID}`,
  `/kubepods/${ID}/pod${UID}`,
  `/kubepods-${slice(UID)}.d`,
  `/xkubepods-${slice(UID)}`,
  `/kubepods-${slice(UID)}:x`,
  `/kubepods-${slice(UID)} (deleted)`,
  `/kubepods.slice/kubepods-pod${UID}.slice`,
  `/../${ID}`,
  `/../../fast/pod${UID}`,
  `/user.slice/user-1000.slice/user@1000.service/kubepods-${slice(UID)}`,
  `/user.slice/user-1000.slice/user@1000.service/kubepods/pod${UID}`,
  `/../../user.slice/user-1000.slice/kubepods/pod${UID}`,
];

for (const path of others) test(`names no pod: ${path}`, () => assert.is(podUidOf(path), undefined));

test('takes the outermost pod: a container names what is below itself', () => {
  for (const outer of Object.values(layouts))
    for (const inner of Object.values(layouts))
      assert.is(podUidOf(`${outer(UID)}${inner(OTHER).replaceAll('/..', '')}`), UID);
});

const v1 = (uid: string) =>
  `12:cpu,cpuacct:/kubepods/pod${uid}/${ID}\n1:name=systemd:/kubepods/pod${uid}/${ID}\n`;
const v2 = (uid: string) => `0::/kubepods.slice/kubepods-${slice(uid)}/cri-containerd-${ID}.scope\n`;

test('belongs by cgroup v1, v2 and both', () => {
  for (const file of [v1(UID), v2(UID), v1(UID) + v2(UID), `${v1(UID)}0::/\n`]) {
    assert.ok(belongsToPod(file, UID), file);
    assert.not(belongsToPod(file, OTHER), file);
    assert.is(podUidOfProcess(file), UID);
  }
});

test('belongs to no pod when it is in none, or in two', () => {
  for (const file of ['', '\n', '0::/\n', `/kubepods/pod${UID}`, v1(UID) + v2(OTHER), v2(OTHER) + v1(UID)])
    assert.is(podUidOfProcess(file), undefined, file);
});

test('a path keeps its colons', () => {
  assert.ok(belongsToPod(`0::/kubepods-${slice(UID)}:cri-containerd:${ID}\n`, UID));
});

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
const plain = fc.tuple(hex(8), hex(4), hex(4), hex(4), hex(12)).map((parts) => parts.join('-'));
const uids = fc.oneof(plain, hex(32));

test('any UID comes back from any layout, and only that one belongs', () => {
  fc.assert(
    fc.property(uids, uids, fc.constantFrom(...Object.values(layouts)), (uid, other, path) => {
      assert.ok(isPodUid(uid));
      assert.is(podUidOf(path(uid)), uid);
      assert.is(belongsToPod(`0::${path(uid)}\n`, other), uid === other);
    }),
  );
});

test('what is no UID is never found', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(...Object.values(layouts)), (text, path) => {
      fc.pre(!isPodUid(text) && !text.includes('/'));
      assert.is(podUidOf(path(text)), undefined);
    }),
  );
});

test('whatever comes, it is judged without failing', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const uid = podUidOf(text);
      assert.ok(uid === undefined || isPodUid(uid));
      assert.not(belongsToPod(text, OTHER));
    }),
  );
});

test.run();
