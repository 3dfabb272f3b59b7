// `cargo xtask bench-page`: plays `io-bound` and prints what Chromium's own trace says about its frames.
// Before that it simulates 1,000,000 tasks and prints the memory of the page; then it drags a slider, so that three
// models are simulated again and again, and prints how long each part of that takes and what drawing takes after it.
// Nothing is asserted: a busy machine makes frames slow.
import { launch } from './support/browser.mjs';
import { button, link, waitForState } from './support/page.mjs';
import { startSite } from './support/site.mjs';

const PLAY_MS = 5_000;
/** How often the page simulates again. */
const AGAIN = 41;
/** [ms] What is drawn of a simulation is drawn by then. */
const DRAWN_MS = 150;
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
  // The browser compiles what is used often once more.
  await drag(page, 0);
  for (const [name, pause] of [['at once', 0], ['after a pause', DRAWN_MS]]) {
    const again = await drag(page, pause);
    console.log(`simulated again   ${again[0].toFixed(1)} ms at least, ${middle(again).toFixed(1)} ms median of ${AGAIN}, ${name}`);
  }
  for (const [name, pause] of [['at once', 0], ['after a pause', DRAWN_MS]]) {
    await browser.startTracing(page, { categories: CATEGORIES });
    await drag(page, pause);
    printParts(name, JSON.parse(await browser.stopTracing()).traceEvents);
  }
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

/**
 * Drags the slider of the wait there and back, each time as soon as the page has all runs, or after a pause.
 * The times from the request until then [ms], the shortest first.
 */
function drag(page, pause) {
  const dragged = ([turns, pause]) =>
    new Promise((resolve) => {
      const root = document.querySelector('[data-run-state]');
      const slider = document.querySelector('#wait-slide');
      const place = Number(slider.value);
      const times = [];
      const slide = () => {
        slider.value = String(Number(slider.value) === place ? place + 1 : place);
        slider.dispatchEvent(new InputEvent('input', { bubbles: true }));
      };
      const watch = new MutationObserver(() => {
        if (root.dataset.runState !== 'done') {
          return;
        }
        times.push(Number(root.dataset.simMs));
        if (times.length < turns) {
          setTimeout(slide, pause);
        } else {
          watch.disconnect();
          slider.dispatchEvent(new Event('change', { bubbles: true }));
          resolve(times.sort((a, b) => a - b));
        }
      });
      watch.observe(root, { attributes: true, attributeFilter: ['data-run-state'] });
      slide();
    });
  return page.evaluate(dragged, [AGAIN, pause]);
}

/** How long each part of a simulation takes: of the shortest, and of the one in the middle. Then what drawing takes. */
function printParts(name, events) {
  const turns = turnsOf(events).sort((a, b) => length(a) - length(b));
  for (const [which, turn] of [['shortest', turns[0]], ['median', middle(turns)]]) {
    console.log(`parts, ${name}: ${which} of ${turns.length}, ${ms(length(turn))} ms while traced`);
    turn.runs.forEach((marks, run) => {
      const times = [...marks.values()];
      const parts = [...marks.keys()].slice(1).map((part, index) => `${part} ${ms(times[index + 1] - times[index])}`);
      console.log(`  run ${run} from ${ms(times[0] - turn.start)} to ${ms(times.at(-1) - turn.start)} ms: ${parts.join(', ')}`);
    });
  }
  const thread = key(events.find(({ name, args }) => name === 'TimeStamp' && args.data.message.startsWith('derived')));
  const tasks = events.filter((event) => event.ph === 'X' && event.name === 'RunTask' && key(event) === thread);
  const drawn = turns.map(({ end, next }) =>
    tasks.reduce((sum, task) => sum + Math.max(Math.min(task.ts + task.dur, next) - Math.max(task.ts, end), 0), 0),
  );
  console.log(`  then ${ms(middle(drawn.sort((a, b) => a - b)))} ms of the main thread in the median, until the next simulation`);
}

/** The simulations in a trace: when each began, when the page had all runs, and when each part of each run was done. */
function turnsOf(events) {
  const marks = events.filter((event) => event.name === 'TimeStamp').sort((a, b) => a.ts - b.ts);
  const turns = [];
  for (const { ts, args } of marks) {
    const [, part, run] = /^(.*) (\d+)$/.exec(args.data.message);
    const last = turns.at(-1);
    if (last === undefined || last.runs.every((parts) => parts.has('derived'))) {
      turns.push({ start: ts, end: ts, next: ts + DRAWN_MS * 1000, runs: [] });
      if (last !== undefined) {
        last.next = Math.min(last.next, ts);
      }
    }
    const turn = turns.at(-1);
    (turn.runs[run] ??= new Map()).set(part, ts);
    turn.end = ts;
  }
  return turns;
}

function length({ start, end }) {
  return end - start;
}

/** Of microseconds. */
function ms(us) {
  return (us / 1000).toFixed(1);
}

function middle(sorted) {
  return sorted[sorted.length >> 1];
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
