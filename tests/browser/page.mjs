// What the tests and the screenshots share: a browser, a server, and the page's words.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

import { chromium } from "playwright-core";

import { serve } from "./serve.mjs";

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const DIST = process.env.TIERSCOPE_DIST ?? path.join(ROOT, "dist");
const BROWSER = process.env.TIERSCOPE_CHROMIUM ?? "/usr/bin/chromium";

/** Conditions are waited for this long; a busy machine is slow, and nothing here sleeps. */
export const PATIENCE_MS = 60_000;

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
];

/** A server for dist/ and a browser, both stopped by `stop`. */
export async function start() {
  const server = await serve(DIST);
  const browser = await chromium.launch({ executablePath: BROWSER, args: FLAGS });
  const stop = async () => {
    await browser.close();
    await server.stop();
  };
  return { url: server.url, browser, stop };
}

/**
 * A fresh profile with one page, which keeps a list of everything that should not happen on it. Nobody is here for the
 * first time unless the test says `first: true`: the tour stays away.
 */
export async function visit({ browser, url }, hash = "", { first = false, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  if (!first) await context.addInitScript(beenHere);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const faults = [];
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error}`));
  context.on("request", (request) => {
    const where = request.url();
    if (!where.startsWith(url) && !where.startsWith("data:")) faults.push(`request leaves the origin: ${where}`);
  });
  await page.goto(url + hash);
  return { page, faults, close: () => context.close() };
}

function beenHere() {
  // The blank page before the first has no storage.
  if (location.protocol.startsWith("http")) localStorage.setItem("tierscope.tour", "seen");
}

/** Waits for the end of the run of the present text, and gives its digest. */
export async function digestOf(page) {
  const digest = page.locator(".header__digest:not(.header__digest--stale) #digest");
  await digest.waitFor();
  return digest.getAttribute("data-digest");
}

/** Replaces the scenario's text. */
export async function write(page, text) {
  await page.locator("#scenario-text").fill(text);
}

/** The scenario's text. */
export function read(page) {
  return page.locator("#scenario-text").inputValue();
}

/** Waits until the page holds a condition. */
export function until(page, condition, argument) {
  return page.waitForFunction(condition, argument, { timeout: PATIENCE_MS });
}

/** A scenario of `scenarios/`, which tests without a browser may use too. */
export function scenario(name) {
  return readFile(path.join(ROOT, "tests/browser/scenarios", `${name}.toml`), "utf8");
}

/** What stands in an element. */
export function text(page, selector) {
  return page.locator(selector).textContent();
}

/** A link as the page wrote it in its first version: raw deflate, base64url. */
export function linkOf(source) {
  return `v1.${deflateRawSync(Buffer.from(source)).toString("base64url")}`;
}
