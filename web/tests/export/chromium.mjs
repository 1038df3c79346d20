import { execFileSync } from 'node:child_process';
import { chromium } from 'playwright-core';

/** The Chromium named by the environment variable CHROMIUM, else the one on the path. */
export async function launched() {
  const executablePath = execFileSync('which', [process.env.CHROMIUM ?? 'chromium'], { encoding: 'utf8' }).trim();
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
