// One Chromium for all tests of a file, a fresh context per page, and a record of everything that went wrong in it.
import assert from 'node:assert/strict';
import { accessSync } from 'node:fs';
import { chromium } from 'playwright-core';

const USUAL_PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The tests may run as root, and the browser has nothing to fetch from anywhere. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Longest wait for one thing on the page [ms]; the machine may be busy with builds. */
export const PATIENCE_MS = 60_000;

export function launch() {
  return chromium.launch({
    executablePath: process.env.PARKBENCH_CHROMIUM ?? USUAL_PLACES.find(exists),
    args: FLAGS,
    timeout: PATIENCE_MS,
  });
}

/**
 * Opens a page in a context of its own.
 * `problems` collects console errors, exceptions and failed requests; `close` expects that there were none.
 */
export async function open(browser, url, { expected = [], init, allow = [], ...options } = {}) {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1440, height: 900 }, ...options });
  await context.grantPermissions(allow);
  context.setDefaultTimeout(PATIENCE_MS);
  if (init !== undefined) {
    await context.addInitScript(init);
  }
  const page = await context.newPage();
  const problems = [];
  const note = (text) => {
    if (!expected.some((pattern) => pattern.test(text))) {
      problems.push(text);
    }
  };
  page.on('console', (message) => message.type() === 'error' && note(`console: ${message.text()}`));
  page.on('pageerror', (error) => note(`exception: ${error.message}`));
  page.on('requestfailed', (request) => note(`request: ${request.url()} ${request.failure()?.errorText}`));
  page.on('response', (response) => response.status() >= 400 && note(`status: ${response.status()} ${response.url()}`));
  await page.goto(url);
  return {
    page,
    problems,
    close: async () => {
      await context.close();
      assert.deepEqual(problems, []);
    },
  };
}

function exists(path) {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}
