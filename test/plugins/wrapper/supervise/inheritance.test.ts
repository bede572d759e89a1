import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../../../support/temporary.ts';
import { runWrapper } from './support/wrapper-process.ts';

/** Opens more descriptors than those it is told to, as careless parents do. */
const leaky = ['bash', '-c', 'exec 3</dev/null 9</dev/null 15</dev/null 40</dev/null; exec "$0" "$@"'];
const listDescriptors = ['sh', '-c', 'cd /proc/self/fd && echo *'];
const readStatus = ['cat', '/proc/self/status'];
const blockAll = [
  'perl',
  '-MPOSIX',
  '-e',
  'my $s = POSIX::SigSet->new; $s->fillset; sigprocmask(0, $s); exec @ARGV',
];
const ignoreSome = ['sh', '-c', 'trap "" HUP INT PIPE USR1; exec "$0" "$@"'];

const inheritance = suite('what a supervised application inherits');

for (const exec of [false, true]) {
  const way = exec ? 'replacing the wrapper' : 'below the wrapper';

  inheritance(`${way}: no signal ignored, none blocked`, async () => {
    for (const prefix of [[], blockAll, ignoreSome]) {
      const { output, status } = await runWrapper(readStatus, { exec }, prefix);
      assert.is(status, 0);
      assert.match(output, /^SigIgn:\t0+$/m);
      assert.match(output, /^SigBlk:\t0+$/m);
    }
  });

  inheritance(`${way}: the descriptors 0, 1 and 2, whatever the wrapper had`, async () => {
    const { output } = await runWrapper(listDescriptors, { exec }, leaky);
    assert.is(output, '0 1 2 3\n'); // 3 is the folder that is listed
  });

  inheritance(`${way}: and the one that it is given`, async () => {
    const folder = temporaryFolder('descriptor');
    const file = join(folder.path, 'given');
    writeFileSync(file, 'as given');
    const script = 'cat /proc/self/fd/$GIVEN; echo; echo $GIVEN; cd /proc/self/fd && echo *';
    const { output } = await runWrapper(['sh', '-c', script], { exec, descriptorOf: file });
    const [text, given, list = ''] = output.split('\n');
    assert.is(text, 'as given');
    assert.is(list.split(' ').length, 5);
    assert.ok(list.split(' ').includes(given ?? ''), output);
    await folder.remove();
  });
}

inheritance.run();
