// The page works wherever it is put: under a sub-path, under a strict policy, without storage; it is never blank.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { launch, open } from '../support/browser.mjs';
import { button, link, readRuns, waitForOtherClock, clockText, waitForState } from '../support/page.mjs';
import { dist, startSite } from '../support/site.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

async function withSite(options, use) {
  const site = await startSite(options);
  try {
    await use(site);
  } finally {
    await site.close();
  }
}

test('under a sub-path', () =>
  withSite({ base: '/lab/parkbench/' }, async (site) => {
    const { page, close } = await open(browser, link(site, 'preset=io-bound&tasks=300'));
    await waitForState(page, 'done');
    assert.equal((await readRuns(page)).length, 3);
    await close();
  }));

test('under a policy without inline scripts and eval', () => {
  // Trunk writes one inline script that starts the page; a host allows it by its hash.
  const html = readFileSync(`${dist}/index.html`, 'utf8');
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, text]) => text);
  const hashes = inline.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  assert.ok(hashes.length <= 1, `${hashes.length} inline scripts`);
  const csp = [
    "default-src 'self'",
    `script-src 'self' 'wasm-unsafe-eval' ${hashes.join(' ')}`,
    "worker-src 'self' blob:",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
  ].join('; ');
  return withSite({ csp }, async (site) => {
    const { page, close } = await open(browser, link(site, 'preset=io-bound&tasks=300'));
    await waitForState(page, 'done');
    assert.equal((await readRuns(page)).length, 3);
    await close();
  });
});

test('with storage forbidden', () =>
  withSite({}, async (site) => {
    const init = () => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {
          get() {
            throw new DOMException('forbidden', 'SecurityError');
          },
        });
      }
    };
    const { page, close } = await open(browser, link(site, 'preset=io-bound&tasks=300'), { init });
    await waitForState(page, 'done');
    await page.getByRole('button', { name: /^Theme/ }).click();
    await button(page, '한국어').click();
    await page.waitForFunction(() => document.documentElement.lang === 'ko');
    await close();
  }));

test('in an iframe that may run scripts and nothing else', () =>
  withSite({}, async (site) => {
    // An opaque origin may not load module scripts without CORS, so the page has to say something instead.
    const { page, close } = await open(browser, `${site.url}no-such-page`, { expected: [/./] });
    await page.setContent(`<iframe sandbox="allow-scripts" src="${site.url}" width="900" height="700"></iframe>`);
    const frame = page.frameLocator('iframe');
    await frame.locator('body').filter({ hasText: /\S/ }).waitFor();
    await close();
  }));

test('without WebAssembly the page says so', () =>
  withSite({}, async (site) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.route(/app.*\.wasm$/, (route) => route.fulfill({ status: 404, contentType: 'text/html', body: '<p>no</p>' }));
    await page.goto(site.url);
    await page.getByText(/could not start: .*(WebAssembly|wasm)/).first().waitFor();
    await context.close();
  }));

test('without JavaScript the page says so', () =>
  withSite({}, async (site) => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(site.url);
    assert.match(await page.locator('body').innerText(), /JavaScript/);
    await context.close();
  }));

test('nothing jumps while the page loads, runs and plays', () =>
  withSite({}, async (site) => {
    const init = () => {
      window.shifts = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries().filter((entry) => !entry.hadRecentInput)) {
          const name = (node) => [node?.nodeName, node?.id, node?.className].filter(Boolean).join(' ');
          const sources = entry.sources.map(({ node }) => name(node));
          window.shifts.push({ value: entry.value, sources });
        }
      }).observe({ type: 'layout-shift', buffered: true });
    };
    for (const width of [1440, 390]) {
      const { page, close } = await open(browser, site.url, { init, viewport: { width, height: 900 } });
      await waitForState(page, 'done');
      let text = await clockText(page);
      await button(page, 'Play').click();
      for (let change = 0; change < 20; change += 1) {
        text = await waitForOtherClock(page, text);
      }
      const shifts = await page.evaluate(() => window.shifts);
      const sum = shifts.reduce((total, shift) => total + shift.value, 0);
      assert.ok(sum < 0.01, `${width} px: ${sum} ${JSON.stringify(shifts)}`);
      await close();
    }
  }));
