import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, startBed } from './support/bed.ts';

const exec = suite('SVC_EXEC');
let bed: Bed;

exec.before(async () => {
  bed = await startBed();
  await bed.kv.put('app', { KEY: 'one' });
});
exec.after(() => bed?.stop());

exec(
  'leaves nothing of the wrapper: its process is the application, whose orphans are none of its business',
  async () => {
    const orphan = 'sh -c "sleep 5 >/dev/null & echo \\$!"';
    const script = `P=$(${orphan}); echo "RUN $$ $KEY"; echo PARENT $(cut -d" " -f4 /proc/$P/stat); kill $P`;
    const run = await bed.run({ command: ['/bin/sh', '-c', script], env: { SVC_EXEC: 'true' } });
    assert.is((await run.says(/^RUN (\d+) one$/m))[1], String(run.pid));
    assert.is.not((await run.says(/^PARENT (\d+)$/m))[1], String(run.pid));
    assert.is((await run.exited).code, 0);
    assert.is(run.events('health.listening').length, 0);
  },
);

exec('names what it ignores, and nothing where nothing is ignored', async () => {
  const command = ['/bin/true'];
  const given = { RENEWAL_INTERVAL: '1m', SVC_STOP_GRACE: '1s', SVC_SIGNAL_GROUP: 'true' };
  const run = await bed.run({ command, env: { SVC_EXEC: 'true', ...given } });
  assert.is((await run.exited).code, 0);
  const [first, ...others] = run.events('config.remark');
  assert.match(
    first?.['remark'],
    /^SVC_EXEC: .*: RENEWAL_INTERVAL, SVC_STOP_GRACE, SVC_SIGNAL_GROUP, HEALTH_ADDR$/,
  );
  assert.equal(others, []);
  const quiet = await bed.run({ command, env: { SVC_EXEC: 'true', HEALTH_ADDR: '' } });
  assert.is((await quiet.exited).code, 0);
  assert.equal(quiet.events('config.remark'), []);
});

exec.run();
