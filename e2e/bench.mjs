// `cargo xtask bench-page`: plays `io-bound` and prints what Chromium's own trace says about its frames.
// Before that it simulates 1,000,000 tasks and prints the memory of the page; then it simulates again and again, as a
// dragged slider does: worker time without the transfer to the page.
// Nothing is asserted: a busy machine makes frames slow.
import { launch } from './support/browser.mjs';
import { button, link, waitForState } from './support/page.mjs';
import { startSite } from './support/site.mjs';

const PLAY_MS = 5_000;
/** How often the page simulates again. */
const AGAIN = 21;
/** As many tasks as a scenario may have. */
const MANY = 1_000_000;
const CATEGORIES = ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline', '__metadata'];

const [browser, site] = await Promise.all([launch(), startSite()]);
try {
  await printMemory();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(link(site, 'preset=io-bound'));
  await waitForState(page, 'done');
  console.log(`first simulation  ${await simulated(page)} ms until the page has all runs, 3 models x 10,000 tasks`);
  const again = [];
  for (let turn = 0; turn < AGAIN; turn++) {
    const before = await simulated(page);
    await page.locator('#run').click();
    // The clock of a page is coarse: two runs may take the same time.
    await page.waitForFunction(
      (last) => document.querySelector('[data-run-state=done]')?.getAttribute('data-sim-ms') !== last,
      before,
      { timeout: 2_000 },
    ).catch(() => waitForState(page, 'done'));
    again.push(Number(await simulated(page)));
  }
  again.sort((a, b) => a - b);
  console.log(`simulated again   ${again[0].toFixed(1)} ms at least, ${again[AGAIN >> 1].toFixed(1)} ms median of ${AGAIN}`);
  await browser.startTracing(page, { categories: CATEGORIES });
  await button(page, 'Play').click();
  await page.waitForTimeout(PLAY_MS);
  report(JSON.parse(await browser.stopTracing()).traceEvents);
} finally {
  await browser.close();
  await site.close();
}

/** Simulates a million tasks under three models, and prints how far the memory of the page's module has grown. */
async function printMemory() {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(() => {
    for (const name of ['instantiate', 'instantiateStreaming']) {
      const original = WebAssembly[name];
      WebAssembly[name] = async (...args) => {
        const made = await original.apply(WebAssembly, args);
        globalThis.wasmMemory = (made.instance ?? made).exports.memory;
        return made;
      };
    }
  });
  await page.goto(link(site, `preset=io-bound&tasks=${MANY}`));
  await waitForState(page, 'done');
  const bytes = await page.evaluate(() => globalThis.wasmMemory.buffer.byteLength);
  const seconds = (Number(await simulated(page)) / 1_000).toFixed(1);
  console.log(`3 models x ${MANY} tasks  ${seconds} s until the page has all runs, ${Math.round(bytes / 2 ** 20)} MiB of the page's WebAssembly memory`);
  await page.close();
}

function simulated(page) {
  return page.locator('[data-run-state]').getAttribute('data-sim-ms');
}

function report(events) {
  const thread = busiestMainThread(events);
  const own = events.filter((event) => event.ph === 'X' && key(event) === thread);
  const tasks = own.filter((event) => event.name === 'RunTask').sort((a, b) => a.ts - b.ts);
  const frames = own.filter((event) => event.name === 'FireAnimationFrame');
  const inFrames = tasks.filter((task) => frames.some((frame) => task.ts <= frame.ts && frame.ts <= task.ts + task.dur));
  print('frames', inFrames.map((task) => task.dur / 1000));
  print('all tasks', tasks.map((task) => task.dur / 1000));
  console.log(`frame rate        ${((frames.length * 1000) / PLAY_MS).toFixed(1)} per second`);
}

/** The renderer's main thread that worked longest is the page's. */
function busiestMainThread(events) {
  const names = events.filter((event) => event.name === 'thread_name' && event.args.name === 'CrRendererMain');
  const busy = (thread) =>
    events.reduce((sum, event) => sum + (event.name === 'RunTask' && key(event) === thread ? (event.dur ?? 0) : 0), 0);
  return names.map(key).sort((a, b) => busy(b) - busy(a))[0];
}

function key({ pid, tid }) {
  return `${pid}/${tid}`;
}

function print(name, times) {
  const sorted = [...times].sort((a, b) => a - b);
  const quantile = (part) => sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? NaN;
  const text = (value) => `${value.toFixed(2)} ms`.padStart(10);
  const slow = sorted.filter((time) => time > 50).length;
  console.log(
    `${name.padEnd(17)} ${String(sorted.length).padStart(5)}, main thread p50 ${text(quantile(0.5))}, ` +
      `p95 ${text(quantile(0.95))}, max ${text(quantile(1))}, over 50 ms: ${slow}`,
  );
}
