import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { imagesToLookUp } from '../../../../src/cluster/injection/mutate/application-process.ts';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import { bare, container, defaults, image, plan, pod, surroundingsOf } from './pods/case.ts';

const images = suite('images whose commands are looked up');

images('those of chosen containers that do not say their command, each once', () => {
  const several = pod({
    initContainers: [bare({ name: 'init', image: 'init:1' })],
    containers: [
      bare({ image: 'a:1' }),
      bare({ name: 'b', image: 'b:1', args: ['x'] }),
      bare({ name: 'c', image: 'a:1' }),
      container({ name: 'd', image: 'd:1' }),
      bare({ name: 'istio-proxy', image: 'istio:1' }),
    ],
  });
  assert.equal(imagesToLookUp(several, plan), ['a:1', 'b:1']);
  assert.equal(imagesToLookUp(several, { ...plan, containers: ['init', 'd'] }), ['init:1']);
  assert.equal(imagesToLookUp(several, { ...plan, command: ['/app'] }), []);
});

images('none of a pod that has been through', () => {
  const one = {
    name: '',
    pod: pod({ containers: [bare({ image: 'a:1' })] }),
    images: { 'a:1': image(['/a']) },
  };
  const mutation = mutatePod(one.pod, plan, defaults, surroundingsOf(one));
  assert.is(mutation.kind, 'pod');
  if (mutation.kind === 'pod') assert.equal(imagesToLookUp(mutation.pod, plan), []);
});

images.run();
