// A comparison from the binary stands beside what it simulated: both halves of every figure, their origin and the error.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { AxeBuilder } from '@axe-core/playwright';
import { launch, open } from '../support/browser.mjs';
import { button, change, link, readRuns, waitForOtherRuns, waitForState } from '../support/page.mjs';
import { binary, startSite } from '../support/site.mjs';

const LIMIT_MS = 300_000;

let browser;
let site;
let folder;
let file;
/** What the binary printed. */
let result;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parkbench-'));
  file = join(folder, 'compare.json');
  const args = ['compare', 'io-bound', '--tasks', '200', '--reps', '2', '--runtime', 'rust', '--format', 'json'];
  const compared = promisify(execFile)(binary, args, { timeout: LIMIT_MS });
  [browser, site, { stdout: result }] = await Promise.all([launch(), startSite(), compared]);
  await writeFile(file, result);
  result = JSON.parse(result);
});
after(async () => {
  await browser?.close();
  await site?.close();
  await rm(folder, { recursive: true, force: true });
});

async function openDone(options) {
  const opened = await open(browser, link(site, 'preset=io-bound&tasks=50'), options);
  await waitForState(opened.page, 'done');
  return opened;
}

/** Opens the file and waits until its runs are simulated. */
async function openFile(page) {
  const before = await readRuns(page);
  await page.locator('#measured-file').setInputFiles(file);
  return waitForOtherRuns(page, before);
}

test('the page simulates what was compared, and the measured total stands beside it', async () => {
  const { page, close } = await openDone();
  const runs = await openFile(page);
  const pairs = result.runs.map(({ simulated_variant, figures }) => [simulated_variant, String(figures.makespan_ns.simulated)]);
  assert.deepEqual(runs.map((run) => [run.variant, run.makespan_ns]), pairs);
  const beside = await page.locator('.beside').evaluateAll((all) => all.map(({ dataset }) => Number(dataset.measuredNs)));
  assert.deepEqual(beside, result.runs.map((run) => run.figures.makespan_ns.measured));
  assert.deepEqual(await page.locator('.column h3').allInnerTexts(), result.runs.map((run) => run.variant));
  for (const text of await page.locator('.beside').allInnerTexts()) {
    assert.match(text, /^measured .* error of the simulation [+\u2212\d]/);
  }
  // Another pool is another run, so nothing that was measured stands beside it.
  await change(page, 'cores', '7');
  await button(page, 'Run').click();
  await waitForOtherRuns(page, runs);
  assert.equal(await page.locator('.beside').count(), 0);
  await page.getByText('none of them is a run that the comparison simulated').waitFor();
  await button(page, 'Remove').click();
  await page.locator('.compared').waitFor({ state: 'detached' });
  await close();
});

test('the table has both halves of every figure and says where they are from', async () => {
  const { page, close } = await openDone();
  await openFile(page);
  const section = page.getByRole('region', { name: 'Simulated beside measured' });
  const source = await section.locator('.note').innerText();
  for (const part of [result.environment.cpu, `parkbench ${result.environment.parkbench}`, result.profile.name]) {
    assert.ok(part === null || source.includes(part), `${source} names ${part}`);
  }
  for (const run of result.runs) {
    const body = section.locator(`[data-compared="${run.variant}"]`);
    const rows = await body.locator('tr').evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
    );
    assert.deepEqual(rows.map((row) => row.length), [6, 6, 6]);
    const errors = ['makespan_ns', 'throughput_per_s', 'latency_mean_ns', 'latency_p95_ns', 'memory_resident_bytes', 'os_switches'].map(
      (name) => run.figures[name].error_percent,
    );
    errors.forEach((error, index) => {
      const sign = error === null ? '\u2013' : error < -0.05 ? '\u2212' : error >= 0.05 ? '+' : '0';
      assert.ok(rows[2][index].startsWith(sign), `${run.variant}: ${rows[2][index]} for ${error}`);
    });
    const labels = await body.locator('th[scope="row"]').allInnerTexts();
    assert.deepEqual(labels, ['Simulated', 'Measured', 'Error']);
  }
  for (const text of [...result.warnings, ...result.runs.flatMap((run) => run.findings.map((finding) => finding.message))]) {
    assert.ok((await section.locator('.remarks').innerText()).includes(text), text);
  }
  await close();
});

test('a file whose simulated total is another says so', async () => {
  const { page, close } = await openDone();
  const other = structuredClone(result);
  other.runs[0].figures.makespan_ns.simulated += 5_000_000;
  await writeFile(file, JSON.stringify(other));
  await openFile(page);
  await page.getByText('it is of another version of the engine').waitFor();
  await writeFile(file, JSON.stringify(result));
  await close();
});

for (const [colorScheme, width, locale] of [['dark', 1440, 'ko-KR'], ['light', 390, 'en-US']]) {
  test(`accessible and no wider than the window: ${colorScheme}, ${width} px, ${locale}`, async () => {
    const { page, close } = await openDone({ colorScheme, locale, viewport: { width, height: 900 } });
    await openFile(page);
    const { violations } = await new AxeBuilder({ page }).analyze();
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' '))}`), []);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wider <= 0, `the page is ${wider} px wider than the window`);
    await close();
  });
}
