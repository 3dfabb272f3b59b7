// Serves the built page as a static host would: any base path, any policy, port chosen by the system.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The built page. */
export const dist = process.env.PARKBENCH_DIST ?? `${root}dist`;

/** The program that serves; `cargo xtask` names itself. */
const server = process.env.PARKBENCH_SERVER ?? `${root}target/debug/xtask`;

/** The binary that the page is compared with. */
export const binary = process.env.PARKBENCH_BINARY ?? `${root}target/debug/parkbench`;

const START_LIMIT_MS = 10_000;

/**
 * @param {{ base?: string, csp?: string, dir?: string }} options
 * @returns {Promise<{ url: string, close: () => Promise<void> }>} `url` ends with the base path.
 */
export async function startSite({ base = '/', csp, dir = dist } = {}) {
  const policy = csp === undefined ? [] : ['--csp', csp];
  const args = ['static', '--dir', dir, '--port', '0', '--base', base, '--until-stdin-closes', ...policy];
  const child = spawn(server, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = await firstLine(child);
  return {
    url,
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

function firstLine(child) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the server did not start in time')), START_LIMIT_MS);
    const settle = (action) => (value) => {
      clearTimeout(timer);
      action(value);
    };
    child.once('error', settle(reject));
    child.once('exit', settle((code) => reject(new Error(`the server ended with ${code}`))));
    createInterface({ input: child.stdout }).once('line', settle(resolve));
  });
}
