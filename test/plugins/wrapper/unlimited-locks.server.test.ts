import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { shown } from './support/bed.ts';
import {
  type ConfinedBed,
  checkPrefix,
  memlock,
  ordinaryUser,
  startConfinedBed,
} from './support/confined.ts';

const under = [...memlock('unlimited'), ...ordinaryUser];
checkPrefix(under);

const unlimited = suite('the wrapper under LimitMEMLOCK=infinity');
let bed: ConfinedBed;

unlimited.before(async () => {
  bed = await startConfinedBed();
});
unlimited.after(() => bed?.stop());

unlimited('an ordinary user needs no capability', async () => {
  const run = await bed.confined(under, { env: { SVC_REQUIRE_MEMFD_SECRET: 'true' } });
  assert.is((await shown(run)).descriptor['KEY'], 'one');
  assert.equal([run.events('memory.lock').length, (await run.event('protection'))['lock']], [0, 'all']);
});

unlimited.run();
