import { mkdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { processesIn } from '../../../../src/plugins/agent/pods/cover-pods.ts';
import {
  createPodResolver,
  namesIn,
  scanPodCgroups,
} from '../../../../src/plugins/agent/pods/pod-cgroups.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';

const test = suite<{ folder: TemporaryFolder }>('cgroups of pods');

test.before.each((context) => {
  context.folder = temporaryFolder('pod-cgroups');
});

test.after.each(({ folder }) => folder.remove());

const uid = (digit: string) => `${digit.repeat(8)}-aaaa-4bbb-8ccc-0123456789ab`;
const slice = (digit: string) => uid(digit).replaceAll('-', '_');

function make({ folder }: { folder: TemporaryFolder }, path: string): bigint {
  mkdirSync(join(folder.path, path), { recursive: true });
  return statSync(join(folder.path, path), { bigint: true }).ino;
}

function found({ folder }: { folder: TemporaryFolder }): Record<string, bigint> {
  return Object.fromEntries(scanPodCgroups(folder.path).pods.map((pod) => [pod.uid, pod.id]));
}

test('are found with the systemd driver, of each service class', (context) => {
  const guaranteed = make(context, `kubepods.slice/kubepods-pod${slice('1')}.slice`);
  const burstable = make(
    context,
    `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${slice('2')}.slice`,
  );
  const rest = make(
    context,
    `kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${slice('3')}.slice`,
  );
  assert.equal(found(context), { [uid('1')]: guaranteed, [uid('2')]: burstable, [uid('3')]: rest });
  const parents = scanPodCgroups(context.folder.path).parents.map(({ path }) =>
    path.slice(context.folder.path.length),
  );
  assert.equal(parents.sort(), [
    '/kubepods.slice',
    '/kubepods.slice/kubepods-besteffort.slice',
    '/kubepods.slice/kubepods-burstable.slice',
  ]);
});

test('are found with the cgroupfs driver, of each service class', (context) => {
  const guaranteed = make(context, `kubepods/pod${uid('1')}/container`);
  const burstable = make(context, `kubepods/burstable/pod${uid('2')}`);
  const rest = make(context, `kubepods/besteffort/pod${uid('3')}`);
  const fixed = make(context, `kubepods/burstable/pod${'0123456789abcdef'.repeat(2)}`);
  const ids = found(context);
  assert.equal([ids[uid('2')], ids[uid('3')], ids['0123456789abcdef'.repeat(2)]], [burstable, rest, fixed]);
  assert.is(
    ids[uid('1')],
    statSync(join(context.folder.path, `kubepods/pod${uid('1')}`), { bigint: true }).ino,
  );
  assert.is.not(ids[uid('1')], guaranteed);
});

test('are found below the cgroup root that a kubelet may have been given', (context) => {
  const systemd = `kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice`;
  const one = make(context, `${systemd}/kubelet-kubepods-burstable-pod${slice('1')}.slice`);
  const two = make(context, `kubelet/kubepods/besteffort/pod${uid('2')}`);
  assert.equal(found(context), { [uid('1')]: one, [uid('2')]: two });
});

test('are not what others have named alike', (context) => {
  make(context, `user.slice/user-1000.slice/kubepods/pod${uid('1')}`);
  make(context, `user.slice/kubepods/pod${uid('2')}`);
  make(context, `system.slice/pod${uid('3')}`);
  make(context, `kubepods/burstable/podx`);
  make(context, `kubepods/burstable/other/pod${uid('5')}`);
  make(context, 'kubepods');
  writeFileSync(join(context.folder.path, 'kubepods', `pod${uid('6')}`), '');
  assert.equal(found(context), {});
});

test('cannot be told where there is no kubelet', ({ folder }) => {
  assert.equal(scanPodCgroups(folder.path), { pods: [], parents: [] });
});

test('name the pod of what is in them, at any depth, and after their end', (context) => {
  const container = make(context, `kubepods/burstable/pod${uid('1')}/crio-1`);
  const nested = make(context, `kubepods/burstable/pod${uid('1')}/crio-1/kubepods/pod${uid('7')}`);
  const other = make(context, 'system.slice/sshd.service');
  let now = 0;
  const { podOfCgroup } = createPodResolver(context.folder.path, () => now);
  assert.equal([container, nested, other].map(podOfCgroup), [uid('1'), uid('1'), undefined]);
  const late = make(context, `kubepods/burstable/pod${uid('2')}`);
  assert.is(podOfCgroup(late), undefined);
  now += 2_000;
  assert.is(podOfCgroup(late), uid('2'));
  rmdirSync(join(context.folder.path, `kubepods/burstable/pod${uid('2')}`));
  now += 2_000;
  podOfCgroup(other);
  assert.is(podOfCgroup(late), uid('2'));
});

test('say which container of a pod a cgroup is of, with either driver', (context) => {
  const ids = ['a', 'b'].map((digit) => digit.repeat(64));
  const pod = `kubepods.slice/kubepods-pod${slice('1')}.slice`;
  const scope = make(context, `${pod}/cri-containerd-${ids[0]}.scope`);
  const inside = make(context, `${pod}/cri-containerd-${ids[0]}.scope/init.scope`);
  const plain = make(context, `kubepods/pod${uid('2')}/${ids[1]}`);
  const { containerOfCgroup } = createPodResolver(context.folder.path);
  assert.equal([scope, inside, plain, make(context, pod)].map(containerOfCgroup), [
    ids[0],
    ids[0],
    ids[1],
    undefined,
  ]);
});

test('are found soon after they are made, beside others that are asked for and belong to none', (context) => {
  const other = make(context, 'system.slice/cron.service');
  let now = 0;
  const { podOfCgroup } = createPodResolver(context.folder.path, () => now);
  assert.is(podOfCgroup(other), undefined);
  const fresh = make(context, `kubepods/burstable/pod${uid('3')}`);
  now += 150;
  assert.is(podOfCgroup(other), undefined);
  assert.is(podOfCgroup(fresh), uid('3'));
  const later = make(context, `kubepods/burstable/pod${uid('4')}`);
  now += 150;
  assert.is(podOfCgroup(other), undefined, 'looked for in vain: it makes no scan');
  assert.is(podOfCgroup(later), uid('4'));
});

test('are looked for in bounds: a pod may have made many of its own', (context) => {
  const pods = ['1', '2'].map((digit) => `kubepods/burstable/pod${uid(digit)}`);
  const own = Array.from({ length: 800 }, (_, count) => make(context, `${pods[0]}/container/own-${count}`));
  const container = make(context, `${pods[1]}/container`);
  const { podOfCgroup } = createPodResolver(context.folder.path);
  assert.is(podOfCgroup(container), uid('2'));
  const known = own.filter((id) => podOfCgroup(id) === uid('1'));
  assert.ok(known.length > 400 && known.length <= 512, String(known.length));
});

test('are not read on for ever where a container has made many', (context) => {
  for (let count = 0; count < 5_000; count += 1) make(context, `container/own-${count}`);
  assert.is(namesIn(join(context.folder.path, 'container')).length, 4_096);
  assert.throws(() => processesIn(context.folder.path), /has more than 4096 cgroups below it/);
});

test('are not read on for ever where a container has many processes', (context) => {
  make(context, 'container');
  const list = join(context.folder.path, 'container', 'cgroup.procs');
  const pids = (count: number) => Array.from({ length: count }, (_, index) => 1_000_000 + index);
  writeFileSync(list, `0\n${pids(60_000).join('\n')}\n`);
  assert.equal(processesIn(context.folder.path), pids(60_000));
  for (const count of [65_537, 1_000_000]) {
    writeFileSync(list, `${pids(count).join('\n')}\n`);
    assert.throws(() => processesIn(context.folder.path), RangeError);
  }
});

test('have no pod where there is no cgroup v2, and neither has a process that is gone', () => {
  const resolver = createPodResolver(undefined);
  assert.is(resolver.podOfCgroup(1n), undefined);
  assert.is(resolver.podOfProcess(2 ** 30), undefined);
});

test.run();
