import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WrapperStory } from '../../../../src/plugins/dev/wrapped/wrapper-process.ts';

const test = suite("what a wrapper's log tells");

const told = (...lines: (object | string)[]): WrapperStory => {
  const story = new WrapperStory();
  for (const line of lines) story.note(typeof line === 'string' ? line : JSON.stringify(line));
  return story;
};

test('where health is, and which application runs now', () => {
  const story = told(
    { event: 'health.listening', address: '127.0.0.1:1' },
    { event: 'application.started', pid: 7 },
    { event: 'application.started', pid: 8 },
  );
  assert.equal([story.healthAddress, story.applicationPid, story.failure], ['127.0.0.1:1', 8, undefined]);
  assert.is(story.lastEvent, 'application.started');
});

test('why it did not start, in the words of the wrapper before those of the application', () => {
  const words = 'demo: cannot map';
  assert.equal(told(words).failure, { code: undefined, reason: words });
  const failed = {
    event: 'start.failed',
    level: 'error',
    code: 'X',
    error: 'It failed',
    details: ['a', 'b'],
  };
  assert.equal(told(failed, words).failure, { code: 'X', reason: 'It failed; a; b' });
});

test('gives events back, and takes what only looks like one for words', () => {
  const story = new WrapperStory();
  assert.is(story.note('{"event":"x"}')?.['event'], 'x');
  for (const line of ['{"event":', '{"no":"event"}', 'text', '[]']) assert.is(story.note(line), undefined);
});

test.run();
