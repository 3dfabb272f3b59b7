// The native binary's answers, in the shape in which the page's are read.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { binary } from './site.mjs';

const LIMIT_MS = 300_000;
const LARGEST_ANSWER = 64 * 1024 * 1024;
const answers = new Map();

/** The runs of a preset, as `parkbench simulate` prints them; each preset is simulated once. */
export function simulate(preset, ...options) {
  const key = [preset, ...options].join(' ');
  if (!answers.has(key)) {
    answers.set(key, ask(preset, options));
  }
  return answers.get(key);
}

async function ask(preset, options) {
  const args = ['simulate', preset, '--format', 'json', ...options];
  const { stdout } = await promisify(execFile)(binary, args, { timeout: LIMIT_MS, maxBuffer: LARGEST_ANSWER });
  const result = JSON.parse(stdout);
  assert.equal(result.version, 1);
  return result.runs.map(({ model, variant, makespan_ns, digest, events }) => {
    assert.ok(Number.isSafeInteger(makespan_ns), `${makespan_ns} is exact in JSON`);
    return { model, variant, makespan_ns: String(makespan_ns), digest, events: String(events) };
  });
}
